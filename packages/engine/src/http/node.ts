// `import … from 'node:http'` would read every export, and so load a WebSocket client: a tenth of each start. This file can
// go when Node loads the client only if it is imported.
export const {
  createServer,
  maxHeaderSize,
  METHODS,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} = process.getBuiltinModule('node:http')
