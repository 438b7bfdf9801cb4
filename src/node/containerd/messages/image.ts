/** Messages about images. */
import { field, flag, integer, list, message, optionalInteger, text } from '../../../protocols/protobuf/message.ts';
import { ImageSpec } from './shared.ts';

export const ImageMessage = message({
  id: field(1, text),
  tags: field(2, list(text)),
  digests: field(3, list(text)),
  bytes: field(4, integer),
  uid: field(5, optionalInteger),
  username: field(6, text),
  isPinned: field(8, flag),
});

/** Request for ImageStatus and RemoveImage. */
export const ImageRequest = message({ image: field(1, ImageSpec.type) });
export const ListImagesResponse = message({ images: field(1, list(ImageMessage.type)) });
export const ImageStatusResponse = message({ image: field(1, ImageMessage.type) });

export const PullImageRequest = message({
  image: field(1, ImageSpec.type),
  auth: field(
    2,
    message({
      username: field(1, text),
      password: field(2, text),
      identityToken: field(5, text),
      registryToken: field(6, text),
    }).type,
  ),
});
export const PullImageResponse = message({ imageRef: field(1, text) });

export const FilesystemUsage = message({
  directory: field(2, message({ path: field(1, text) }).type),
  usedBytes: field(3, optionalInteger),
});
export const ImageFsInfoResponse = message({ images: field(1, list(FilesystemUsage.type)) });
