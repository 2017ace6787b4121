// Replaces `import … from 'node:http'`, which reads every export of the module, and so loads its lazy WebSocket client.
// The service does not use that client, and loading it takes a tenth of each start. This file can go when Node loads the
// client only for code that imports it.
export const { createServer, maxHeaderSize, METHODS, STATUS_CODES, validateHeaderValue } =
  process.getBuiltinModule('node:http')
