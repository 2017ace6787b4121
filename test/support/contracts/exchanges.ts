// Requests and their expected answers, written as tables.
import type { InjectOptions } from 'fastify'

/** A request and the expected answer: its status, its body or a pattern, and its media type. */
export type Exchange = readonly [
  request: InjectOptions | string,
  status: number,
  text?: string | RegExp,
  type?: string,
]

/** For a list of exchanges. */
export const ask = (...exchange: Exchange): Exchange => exchange

/** A request with a body. @param payload a string, bytes, or a value to write as JSON */
export function post(payload: unknown, type = 'application/json', url = '/x'): InjectOptions {
  const bytes =
    typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload)
  return { method: 'POST', url, headers: { 'content-type': type }, payload: bytes }
}

/** Makes a request of a string. */
type ToRequest = (text: string) => InjectOptions | string

export const json: ToRequest = (text) => post(text)
export const query: ToRequest = (text) => `/x?${text}`
export const path: ToRequest = (text) => text
export const urlencoded: ToRequest = (text) => post(text, 'application/x-www-form-urlencoded')

const placeOf = (request: ToRequest) =>
  (request === query && 'query') || (request === path && 'path') || 'body'
const split = (texts: string) => texts.match(/\S+/g) ?? []

/** @param texts separated by spaces; `1e2=>100` is sent as `1e2`, and the method gets `100` */
export const accepted = (request: ToRequest, texts: string): Exchange[] =>
  split(texts).map((text) => {
    const [sent = '', got = sent] = text.split('=>')
    return ask(request(sent), 200, `{"${placeOf(request)}":${got}}`)
  })

/** @param texts separated by spaces @param message a pattern of the answer */
export const refused = (request: ToRequest, texts: string, message: RegExp): Exchange[] =>
  split(texts).map((text) => ask(request(text), 400, message))
