// The types of a service's methods, made from the generated types of the contract.
import type { Mark } from '../contract/compiled.ts'
import type { MethodLog } from './input/method-request.ts'
import type { Undeclared } from './undeclared.ts'
import type { JsonText } from '../http/json.ts'

/**
 * The validated parts of a request, as the contract describes them. An int64 is a `bigint`.
 * @example
 * ```ts
 * import type { operations } from './contract.gen.ts'
 * import type { RequestOf } from '@plant-store/engine'
 *
 * export const idOf = ({ path }: RequestOf<operations['getNote']>): bigint => path.id
 * ```
 */
export interface RequestOf<Operation> {
  /** The caller named by the credentials; empty if they name nobody, or if there are none. */
  readonly caller: string
  /**
   * The scopes of the credentials (RFC 6749, section 3.3), of an access token, a JWT or a guard;
   * empty if there are none.
   */
  readonly scopes: ReadonlySet<string>
  readonly path: Parameters<Operation, 'path'>
  readonly query: Parameters<Operation, 'query'>
  readonly header: Parameters<Operation, 'header'>
  readonly cookie: Parameters<Operation, 'cookie'>
  /** The value of the JSON, a string, the fields and files of a form, or a stream of bytes. */
  readonly body: RequestBody<DescribedBody<Operation>>
  /**
   * The media type of the body, in lower case, where the contract has a range of them, such as
   * `image/*`.
   */
  readonly type: RangedType<DescribedBody<Operation>>
  /** Writes lines with the id of the request, the caller and the trace. */
  readonly log: MethodLog
  /** Aborts when the client leaves before the answer is sent, and when the service ends. */
  readonly signal: AbortSignal
}

/**
 * The answer of a method: a status declared by the contract, with its headers and its body.
 * @template Id of the operation. With it TypeScript names a status that the contract does not declare
 * @example
 * ```ts
 * import type { operations } from './contract.gen.ts'
 * import type { ResultOf } from '@plant-store/engine'
 *
 * export const result: ResultOf<operations['getNote']> = { status: 200, body: { text: 'Buy milk' } }
 * ```
 */
export type ResultOf<Operation, Id extends string = never> = Operation extends {
  responses: infer Responses
}
  ? Results<Responses> | Undeclared<Results<Responses>['status'], Id>
  : never

/** A method for each operation of a contract, named by its operationId. */
export type Service<Operations> = {
  [Id in keyof Operations]: (
    request: RequestOf<Operations[Id]>,
  ) => Promise<ResultOf<Operations[Id], Id & string>>
}

// Requests:

/** The parameters in one place of a request, by name. */
type Parameters<Operation, Place extends string> = Operation extends {
  parameters: { [_ in Place]?: infer Values extends object }
}
  ? Readonly<Visible<Values, 'readOnly'>>
  : unknown

/** The `requestBody` of an operation; undefined if it has none. */
type DescribedBody<Operation> = Operation extends { requestBody?: unknown }
  ? Operation['requestBody']
  : undefined

/** The body: the union of the values of its media types. */
type RequestBody<Described> = Described extends { content: infer Content }
  ? { [Type in keyof Content]: RequestValue<Type, Content[Type]> }[keyof Content]
  : undefined

/** @example `'image/*'` gives `string`, and `'image/png'` gives `undefined` */
type RangedType<Described> = Described extends { content: infer Content }
  ? Extract<keyof Content, Range> extends never
    ? undefined
    : string
  : undefined

/** The value of a body in one media type. */
type RequestValue<Type, Value> =
  Lower<Type> extends Json | Form
    ? Visible<Value, 'readOnly'>
    : Lower<Type> extends Text
      ? Value
      : AsyncIterable<Uint8Array>

// Media types:

/** Media types are compared without regard to case. */
type Lower<Type> = Lowercase<Type & string>
type Json = 'application/json' | 'text/json' | `${string}+json`
type Form = 'multipart/form-data' | 'application/x-www-form-urlencoded'
type Range = `${string}/*`
type Text = `text/${string}` | `application/${'xml' | 'yaml' | 'x-yaml'}` | `${string}+xml`

// Properties of one direction only:

/**
 * The type of a value without its hidden properties, and without marks.
 * @template Hidden `readOnly` in a request, `writeOnly` in a response; with `never`, all properties
 * stay
 * @example
 * ```ts
 * import type { Mark, Visible } from '@plant-store/engine'
 *
 * interface Note {
 *   text: string
 *   created: Mark<string, 'readOnly'>
 * }
 * export const sent: Visible<Note, 'readOnly'> = { text: 'Buy milk' }
 * ```
 */
export type Visible<Value, Hidden extends 'readOnly' | 'writeOnly'> =
  Value extends Mark<infer Unmarked>
    ? Visible<Unmarked, Hidden>
    : Value extends readonly unknown[]
      ? { [Index in keyof Value]: Visible<Value[Index], Hidden> }
      : Value extends File
        ? File
        : Value extends object
          ? Both<VisibleProperties<Value, Hidden>, FilledProperties<Value, Hidden>>
          : Value

/** The properties not hidden. */
type VisibleProperties<Value, Hidden extends 'readOnly' | 'writeOnly'> = {
  [Name in keyof Value as HasMark<Value[Name], Hidden> extends true ? never : Name]: Visible<
    Value[Name],
    Hidden
  >
}
/** The properties with a default: in a request, they are always present. */
type FilledProperties<Value, Hidden extends 'readOnly' | 'writeOnly'> = {
  [Name in keyof Value as IsFilled<Value[Name], Hidden> extends true ? Name : never]-?: Visible<
    Value[Name],
    Hidden
  >
}
type IsFilled<Property, Hidden> = 'readOnly' extends Hidden ? HasMark<Property, 'default'> : false

/**
 * An object with the properties of both. An empty `Filled` is left out: even numbers and strings
 * would fit an empty object.
 */
type Both<Properties, Filled> = [keyof Filled] extends [never] ? Properties : Properties & Filled

/**
 * Whether the type of a property has a mark. A union has it if all its parts do: in the type of an
 * index, some may lack it.
 */
type HasMark<Property, Name> = [NonNullable<Property>] extends [never]
  ? false
  : [NonNullable<Property>] extends [{ readonly $mark: Name }]
    ? true
    : false

// Responses:

/** The results of a method: the union of the responses declared by the contract. */
type Results<Responses> = {
  [Key in keyof Responses]: { readonly status: Status<Key, keyof Responses> } & Headers<
    Responses[Key]
  > &
    Body<Responses[Key]>
}[keyof Responses]

/**
 * The statuses of a key of `responses`. `default` is for built-in errors: a method may use it only
 * if no other response is a success.
 * @template Declared all keys of the responses
 * @example `Status<200, 200 | 'default'>` gives `200`; `Status<'4XX', '4XX' | 404>` gives 400 to 499, but not 404
 */
type Status<Key, Declared> = Key extends number
  ? Key
  : Key extends `${infer Class}XX`
    ? Exclude<StatusesInClass<Class>, Declared>
    : Extract<Declared, Success> extends never
      ? Exclude<StatusesInClass<'2' | '3' | '4' | '5'>, Declared>
      : never
type Success = StatusesInClass<'2' | '3'> | '2XX' | '3XX'
/** @example `StatusesInClass<'4'>` gives 400 to 499 */
type StatusesInClass<Class extends string> = ToNumber<`${Class}${Digit}${Digit}`>
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'
/** @example `ToNumber<'404'>` gives `404` */
type ToNumber<Digits> = Digits extends `${infer Value extends number}` ? Value : never

/** The headers of a response. They may be left out if all of them are optional. */
type Headers<Response> = Response extends { headers: infer Described }
  ? HeadersProperty<Named<Described>>
  : unknown
/** The headers with a name. The generated type may also have an index, for headers of any name. */
type Named<Described> = {
  readonly [Name in keyof Described as string extends Name ? never : Name]: Described[Name]
}
type HeadersProperty<Described> = object extends Described
  ? { readonly headers?: Optional<Described> }
  : { readonly headers: Optional<Described> }
/** An optional header may be undefined, too. */
type Optional<Described> = {
  [Name in keyof Described]: object extends Pick<Described, Name>
    ? Described[Name] | undefined
    : Described[Name]
}

/** The body of a response, with its media type. */
type Body<Response> = Response extends { content: infer Content extends object }
  ? {
      [Type in keyof Content]: {
        readonly body: BodyValue<Type, Content[Type]>
      } & MediaTypeProperty<Type, keyof Content>
    }[keyof Content]
  : { readonly body?: undefined }

/**
 * The property `type` of a result: the method must name the media type if the contract has several,
 * or a range.
 * @template Declared all media types of the response
 */
type MediaTypeProperty<Type, Declared> = Type extends `${infer Kind}/*`
  ? { readonly type: Kind extends '*' ? `${string}/${string}` : `${Kind}/${string}` }
  : [Declared] extends [Type]
    ? { readonly type?: Type }
    : { readonly type: Type }

/** The value of a body in one media type: JSON, a string or bytes. */
type BodyValue<Type, Value> =
  Lower<Type> extends Json
    ? JsonValue<Value>
    : Lower<Type> extends 'text/event-stream'
      ? AsyncIterable<ServerEvent<Visible<Value, 'writeOnly'>>>
      : Lower<Type> extends Text
        ? Value
        : Uint8Array | AsyncIterable<Uint8Array>
/** A server-sent event (WHATWG HTML, section 9.2). */
interface ServerEvent<Data> {
  /** A client sends it as `Last-Event-ID` when it comes back. */
  readonly id?: string | undefined
  /** Its type; `message` without one. */
  readonly event?: string | undefined
  /** Milliseconds after which a client comes back from a lost connection. */
  readonly retry?: number | undefined
  readonly data: Data
}
/**
 * A value, or its JSON. An array may come in batches: it is streamed, with one batch in memory at a
 * time.
 */
type JsonValue<Value> =
  | Visible<Value, 'writeOnly'>
  | JsonText<Visible<Value, 'writeOnly'>>
  | (Value extends readonly unknown[]
      ? AsyncIterable<JsonText<Visible<Value, 'writeOnly'>>>
      : never)
