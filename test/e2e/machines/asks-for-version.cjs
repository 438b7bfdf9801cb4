// Runs in a pod: asks for the version four times a second, over a new connection each time, and prints what becomes of it.
const { get } = require('node:https');

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, CA: ca } = process.env;

setInterval(() => {
  const call = get({ host, port, ca, path: '/version', agent: false, timeout: 2_000 });
  call.on('response', (response) => console.log(response.resume().statusCode));
  call.on('timeout', () => call.destroy(new Error('timeout')));
  call.on('error', ({ message }) => console.log(message));
}, 250);
