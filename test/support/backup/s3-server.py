"""
Runs OpenStack Swift with its S3 API on loopback: proxy, account, container and object server in one process, with one
device. Arguments: an empty directory, and optionally the files of a certificate and its key. Prints the port of the S3
API once it answers. Users: test:tester with the key "testing"; other:user with "testing" and no rights.
"""
import eventlet
eventlet.patcher.monkey_patch(all=False, socket=True, select=True, thread=True)

import logging
import os
import sys

from eventlet import wsgi
from swift.common import utils
from swift.common.ring import RingBuilder
from swift.common.wsgi import loadapp

directory, certificate = sys.argv[1], sys.argv[2:]
utils.HASH_PATH_PREFIX = utils.HASH_PATH_SUFFIX = b"test"
logging.disable(logging.CRITICAL)

BACKEND = """
[DEFAULT]
devices = %(devices)s
mount_check = false
swift_dir = %(directory)s
user = root
[pipeline:main]
pipeline = %(kind)s-server
[app:%(kind)s-server]
use = egg:swift#%(kind)s
"""

PROXY = """
[DEFAULT]
swift_dir = %(directory)s
[pipeline:main]
pipeline = catch_errors gatekeeper listing_formats s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
storage_domain = s3.test
allow_multipart_uploads = true
check_bucket_owner = true
auth_pipeline_check = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
user_other_user = testing
[filter:slo]
use = egg:swift#slo
"""


class Cache:
    """Stands for memcached, and remembers nothing."""

    def get(self, *_, **__):
        return None

    def set(self, *_, **__):
        pass

    delete = incr = decr = set


def with_cache(app):
    def call(environment, start_response):
        environment["swift.cache"] = Cache()
        return app(environment, start_response)

    return call


def listen():
    return eventlet.listen(("127.0.0.1", 0))


def serve(socket, app):
    eventlet.spawn(wsgi.server, socket, app, open(os.devnull, "w"), log_output=False)


def load(kind, text):
    path = os.path.join(directory, kind + ".conf")
    with open(path, "w") as file:
        file.write(text % {"devices": os.path.join(directory, "devices"), "directory": directory, "kind": kind})
    return loadapp(path)


os.makedirs(os.path.join(directory, "devices", "sda"))
sockets = {kind: listen() for kind in ("account", "container", "object")}
for kind, socket in sockets.items():
    builder = RingBuilder(1, 1, 1)
    port = socket.getsockname()[1]
    builder.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "sda", "weight": 1})
    builder.rebalance()
    builder.get_ring().save(os.path.join(directory, kind + ".ring.gz"))
for kind, socket in sockets.items():
    serve(socket, load(kind, BACKEND))

front = listen()
port = front.getsockname()[1]
if certificate:
    front = eventlet.wrap_ssl(front, certfile=certificate[0], keyfile=certificate[1], server_side=True)
serve(front, with_cache(load("proxy", PROXY)))
print(port, flush=True)
# Ends with the test.
eventlet.hubs.trampoline(sys.stdin, read=True)
