// Replaces `import … from 'node:http'`, which would read each export of the module, its lazy WebSocket client included.
// The service does not use that client, and loading it takes a tenth of each start. This file can go when Node loads the
// client only where it is named.
export const { createServer, maxHeaderSize, METHODS, STATUS_CODES } = process.getBuiltinModule('node:http')
