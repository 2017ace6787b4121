// Writes the responses of an operation: chooses the media type of a body, checks the body by its schema, and writes it.
import type { Operation, ResponseMedia } from '../../contract/compiled.ts'
import { findStatus } from '../../contract/error-forms.ts'
import { findType } from '../input/content-type.ts'
import { exactJson, JsonText, MAX_LEVELS } from '../../http/json.ts'
import { validateHeaderValue } from '../../http/node.ts'
import type { Check, Validator } from '@plant-store/json-schema'

/** The media type of a response, and the writer of its bodies. */
export interface ResponseContent {
  /** As in `Content-Type`. */
  readonly type: string
  readonly writer: BodyWriter
}

export class ResponseWriters {
  readonly #operation: Operation
  readonly #validator: Validator
  /** By the media types of the contract. Types chosen by callers from a range are not stored: they could fill the memory. */
  readonly #writers = new Map<ResponseMedia, BodyWriter>()
  /** By status: the content of a response if its method names no media type. */
  readonly #usual = new Map<number, ResponseContent | null>()

  /** @param validator of outgoing values */
  constructor(operation: Operation, validator: Validator) {
    this.#operation = operation
    this.#validator = validator
  }

  /**
   * Finds the content of a response.
   * @param type the media type named by the method
   * @returns null if the contract declares no body
   * @throws {Error} for an undeclared status or media type
   */
  find(status: number, type: string | undefined): ResponseContent | null {
    if (type !== undefined) return this.#find(status, type)
    const usual = this.#usual.get(status)
    if (usual !== undefined) return usual
    const content = this.#find(status, undefined)
    this.#usual.set(status, content)
    return content
  }

  #find(status: number, named: string | undefined): ResponseContent | null {
    const { id, responses } = this.#operation
    const response = responses[findStatus(responses, status) ?? '']
    if (response === undefined)
      throw misfit(id, status, 'a status that the contract does not declare')
    const type = named ?? Object.keys(response)[0] ?? ''
    const media = response[findType(response, type) ?? '']
    if (media === undefined) return null
    if (type.endsWith('*')) throw misfit(id, status, `no media type of ${type}`)
    if (named !== undefined) validateHeaderValue('content-type', named)
    return { type: withCharset(type, media), writer: this.#writerOf(media) }
  }

  #writerOf(media: ResponseMedia): BodyWriter {
    const writer =
      this.#writers.get(media) ?? new BodyWriter(this.#operation.id, media, this.#validator)
    this.#writers.set(media, writer)
    return writer
  }
}

/** A media type for `Content-Type`. Events are always in UTF-8. */
function withCharset(type: string, { kind, events }: ResponseMedia): string {
  return kind === 'text' && !events ? `${type}; charset=utf-8` : type
}

/** Writes the bodies of a media type. Its methods throw an error for a body refused by the contract. */
export class BodyWriter {
  readonly kind: ResponseMedia['kind']
  readonly isEvents: boolean
  readonly #id: string
  readonly #check: Check
  /** Whether bodies may have properties to leave out. */
  readonly #hasWriteOnly: boolean

  /** @param id of the operation, for errors */
  constructor(id: string, media: ResponseMedia, validator: Validator) {
    const { kind, schema: schemaId, events = false } = media
    const schema = schemaId === null || { $ref: schemaId }
    this.kind = kind
    this.isEvents = events
    this.#id = id
    this.#check = validator.compile('body', schema)
    this.#hasWriteOnly = validator.hasWriteOnly(schema)
  }

  write(status: number, body: unknown): string | Buffer {
    if (body instanceof Uint8Array)
      return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    if (this.kind === 'bytes') throw misfit(this.#id, status, 'a body that is not bytes')
    return this.writeText(status, body)
  }

  /** Writes a body other than bytes, or a piece of one. */
  writeText(status: number, body: unknown): string {
    if (!(body instanceof JsonText)) return this.#writeValue(status, body, MAX_LEVELS)
    if (!this.#hasWriteOnly) return body.text
    // Each item may have as many levels as JSON may have, and the list is around them.
    return this.#writeValue(status, JSON.parse(body.text, exactly), MAX_LEVELS + 1)
  }

  /** @param levels how many levels deep the body may be nested */
  #writeValue(status: number, body: unknown, levels: number): string {
    if (body === undefined) throw this.#unfit(status, 'it is missing')
    const { error, value } = this.#check(body)
    if (error !== undefined) throw this.#unfit(status, error)
    if (this.kind !== 'text') return exactJson(value, levels)
    if (typeof value !== 'string') throw this.#unfit(status, 'it is not a string')
    return value
  }

  #unfit(status: number, error: string): Error {
    return misfit(this.#id, status, `a body that does not fit the contract: ${error}`)
  }
}

/** The error of a method whose status or body the contract does not allow. */
export function misfit(id: string, status: number, fault: string): Error {
  return new Error(`the method ${id} answered ${status} with ${fault}`)
}

/** For `JSON.parse`: an integer which a `number` may not hold is a `bigint`. */
const exactly = (_name: string, value: unknown, { source = '' } = {}) =>
  /^-?\d{16,}$/.test(source) ? BigInt(source) : value
