// Serves one operation of the contract: the five stages of its requests, in order.
import type {
  FastifyContentTypeParser,
  FastifyReply,
  onRequestHookHandler,
  RouteHandlerMethod,
} from 'fastify'
import type { Validator } from '@plant-store/json-schema'
import { Bodies } from './input/bodies.ts'
import { MethodRequest, type RequestParameters } from './input/method-request.ts'
import { parametersReader } from './input/parameters.ts'
import { valuesOfPath } from './input/templates.ts'
import { type Answer, Answers } from './output/answer.ts'
import { assertStream, hasOnlyStreams } from './output/stream-budget.ts'
import type { Operation } from '../contract/compiled.ts'
import type { Exchange } from '../http/exchange.ts'
import { HttpError } from '../errors.ts'

/** The end of a check: a promise only if the check takes time. To wait for a promise costs more than most checks. */
type Checked = undefined | Promise<undefined>

export interface Authorizer {
  /** @throws {HttpError} 401 or 403 */
  readonly authorize: (exchange: Exchange) => Checked
}

export type Method = (input: MethodRequest) => Promise<Answer>

export interface Validators {
  readonly bodies: Validator
  /** The validator of values sent as strings. */
  readonly texts: Validator
  readonly responses: Validator
}

/** The parts of an operation beside the contract. */
interface OperationParts {
  readonly authorizer: Authorizer
  readonly method: Method
  readonly validators: Validators
}

/** The stages of the requests of an operation. */
export class Stages {
  readonly #authorizer: Authorizer
  readonly #method: Method
  readonly #readers: ReturnType<typeof readersOf>
  readonly #bodies: Bodies | undefined
  readonly #answers: Answers
  /**
   * Whether the method gets the media type of the body, because the contract has a range of them.
   */
  readonly #hasRange: boolean
  readonly #isStream: boolean

  constructor(operation: Operation, { authorizer, method, validators }: OperationParts) {
    const { body } = operation
    this.#authorizer = authorizer
    this.#method = method
    this.#readers = readersOf(operation, validators.texts)
    this.#bodies = body ? new Bodies(body, validators) : undefined
    this.#answers = new Answers(operation, validators.responses)
    this.#hasRange = Object.keys(body?.content ?? {}).some((type) => type.endsWith('*'))
    this.#isStream = hasOnlyStreams(operation)
  }

  /** Before a byte of the body is read. */
  readonly onRequest: onRequestHookHandler = (request, _reply, done) => {
    const { exchange } = request
    const authorized = this.#authorizer.authorize(exchange) // 401, 403
    const accepted = after(authorized, () => this.#accept(exchange)) // 400, 413, 415, 503
    if (accepted === undefined) done()
    else accepted.then(done, done)
  }

  readonly handler: RouteHandlerMethod = async (request) => {
    const { exchange } = request
    const input = await this.#read(exchange) // 400, 413, 503
    const answer = await this.#method(input)
    return this.#write(exchange, answer) // 500
  }

  /** Checks the query, and the headers of the body. */
  #accept(exchange: Exchange): Checked {
    checkQuery(exchange)
    return this.#bodies?.accept(exchange)
  }

  /** Reads and validates the parameters and the body. */
  #read(exchange: Exchange): MethodRequest | Promise<MethodRequest> {
    const parameters = this.#readParameters(exchange)
    const body = this.#bodies?.read(exchange)
    const toInput = (value: unknown) => this.#toInput(exchange, parameters, value)
    return body instanceof Promise ? body.then(toInput) : toInput(body)
  }

  #readParameters({ request }: Exchange): RequestParameters {
    const { path, query, header, cookie } = this.#readers
    return {
      path: path?.(request),
      query: query?.(request),
      header: header?.(request),
      cookie: cookie?.(request),
    }
  }

  #toInput(exchange: Exchange, parameters: RequestParameters, body: unknown): MethodRequest {
    if (this.#isStream) assertStream(exchange) // before any effect of the method
    const type = this.#hasRange ? exchange.mediaType : undefined
    return new MethodRequest(exchange, parameters, { body, type })
  }

  /** Checks the answer by the contract, and sends it. */
  #write(exchange: Exchange, answer: Answer): FastifyReply | Promise<FastifyReply> {
    return this.#answers.write(exchange, answer)
  }
}

/** Leaves the bodies to the stages: Fastify reads nothing of them. */
export const leaveBody: FastifyContentTypeParser = (_request, payload, done) => done(null, payload)

/** Refuses a query with broken percent-encoding. The router checks only the path. */
function checkQuery({ request: { url } }: Exchange): void {
  if (!url.includes('%')) return
  try {
    decodeURIComponent(url)
  } catch {
    throw new HttpError(400, 'The query must be UTF-8 in percent-encoding')
  }
}

/** Goes on after a check: at once, if it has ended. */
function after(checked: Checked, next: () => Checked): Checked {
  return checked === undefined ? next() : checked.then(next)
}

/** The readers of an operation's parameters, by their place. */
function readersOf({ path, parameters }: Operation, validator: Validator) {
  return {
    path: parametersReader(parameters, 'path', validator, valuesOfPath(path, parameters)),
    query: parametersReader(parameters, 'query', validator),
    header: parametersReader(parameters, 'header', validator),
    cookie: parametersReader(parameters, 'cookie', validator),
  }
}
