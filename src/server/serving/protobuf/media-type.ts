export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
