// Exchanges of which only a text differs: a body, or a query.
import type { InjectOptions } from 'fastify'
import { ask, type Exchange, post } from '../../../support/small.ts'

type ToRequest = (text: string) => InjectOptions | string

export const json: ToRequest = (text) => post(text)
export const query: ToRequest = (text) => `/x?${text}`
export const path: ToRequest = (text) => text
export const urlencoded: ToRequest = (text) => post(text, 'application/x-www-form-urlencoded')

const placeOf = (request: ToRequest) => (request === query && 'query') || (request === path && 'path') || 'body'
const split = (texts: string) => texts.match(/\S+/g) ?? []

/** @param texts with a space between two; `1e2=>100`: the method gets another text than was sent */
export const accepted = (request: ToRequest, texts: string): Exchange[] =>
  split(texts).map((each) => {
    const [sent = '', got = sent] = each.split('=>')
    return ask(request(sent), 200, `{"${placeOf(request)}":${got}}`)
  })

/** @param texts with a space between two @param message what the answer is like */
export const refused = (request: ToRequest, texts: string, message: RegExp): Exchange[] =>
  split(texts).map((each) => ask(request(each), 400, message))
