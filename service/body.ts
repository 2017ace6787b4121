import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { reasonOf } from './config.ts'
import { HttpError } from './errors.ts'
import { countHeader } from './headers.ts'
import { parseJson } from './json.ts'

// RFC 9110, sections 5.6.2 to 5.6.6 and 8.3.1.
const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const QUOTED = '"(?:[\\t !#-\\[\\]-~\\x80-\\xFF]|\\\\[\\t -~\\x80-\\xFF])*"'
const PARAMETER = `(${TOKEN})=(${TOKEN}|${QUOTED})`
const JSON_TYPE = new RegExp(`^application/json[ \\t]*(?:;[ \\t]*(?:${PARAMETER}[ \\t]*)?)*$`, 'i')
const PARAMETERS = new RegExp(`;[ \\t]*${PARAMETER}`, 'g')

/** Makes JSON the one media type that bodies are read in. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, bytes: Buffer) => {
      try {
        return parseJson(bytes)
      } catch (error) {
        throw new HttpError(400, `The body is refused: ${reasonOf(error)}`)
      }
    },
  )
  // Many clients send a body, or only its type, with DELETE; there it means nothing (RFC 9110, section 9.3.5).
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
}

/** Refuses a body that is not JSON in UTF-8 as it is. An `onRequest` hook: the body is not read for it. */
export async function requireJson({ raw }: FastifyRequest): Promise<void> {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = raw.headers
  if (type === undefined && !hasBody(raw.headers)) return
  if (countHeader(raw, 'content-type') !== 1 || type === undefined || !isJsonInUtf8(type)) {
    throw new HttpError(415, 'The Content-Type of the body must be application/json, in UTF-8')
  }
  if (encoding.toLowerCase() !== 'identity')
    throw new HttpError(415, 'The body must not have a Content-Encoding')
}

function hasBody(headers: FastifyRequest['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function isJsonInUtf8(type: string): boolean {
  if (!JSON_TYPE.test(type)) return false
  const charsets = [...type.matchAll(PARAMETERS)].filter(([, name]) => name?.toLowerCase() === 'charset')
  return charsets.length === 0 || (charsets.length === 1 && /^"?utf-8"?$/i.test(charsets[0]?.[2] ?? ''))
}

/** Asks for the body if the client waits for that (RFC 9110, section 10.1.1). A `preParsing` hook. */
export async function askForBody({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (raw.headers.expect === undefined || raw.httpVersion !== '1.1') return
  reply.raw.writeContinue()
  reply.removeHeader('connection')
}

/** Refuses a request without a body. A `preValidation` hook: without one, Fastify would validate nothing. */
export async function requireBody({ body }: FastifyRequest): Promise<void> {
  if (body === undefined) throw new HttpError(400, 'The request needs a body')
}
