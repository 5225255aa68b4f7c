export { channelPair } from "./channels/pair";
export { type Port, portChannel } from "./channels/port";
export {
  type ClientSocket,
  type ServerSocket,
  type ServerSocketChannel,
  serverSocketChannel,
  socketChannel,
} from "./channels/socket";
export {
  type Child,
  type ChildOptions,
  childChannel,
  type LineSink,
  linesChannel,
  stdioChannel,
} from "./channels/stdio";
export type {
  Called,
  Calling,
  Calls,
  CancelName,
  Channel,
  ChannelEvents,
  ChannelHost,
  Peer,
  PeerCounts,
  PeerOptions,
  ProgressName,
  Protocols,
  RequestId,
  RpcErrorObject,
  Served,
  Serves,
} from "./contract";
export { RpcError } from "./errors";
export { createPeer } from "./peer";
