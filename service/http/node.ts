/** Node's HTTP. To import it would load its client, too, which is not used here and takes a tenth of each start. */
export const { createServer, maxHeaderSize, METHODS, STATUS_CODES } = process.getBuiltinModule('node:http')
