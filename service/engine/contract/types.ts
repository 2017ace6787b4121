// The types of a service's methods, made from the generated types of the contract.
import type { Mark } from './compiled.ts'
import type { JsonText } from '../http/json.ts'

/** The validated parts of a request, as the contract describes them. An int64 is a `bigint`. */
export interface RequestOf<Operation> {
  /** The caller that the credentials name; empty if they name nobody, or if there are none. */
  readonly caller: string
  readonly path: Part<Operation, 'path'>
  readonly query: Part<Operation, 'query'>
  readonly header: Part<Operation, 'header'>
  /** The value of the JSON, a text, the fields and files of a form, or a stream of bytes. */
  readonly body: RequestBody<
    Operation extends { requestBody?: unknown } ? Operation['requestBody'] : undefined
  >
  /** The media type of the body, in lower case, where the contract has a range of them, such as `image/*`. */
  readonly type: RangedType<
    Operation extends { requestBody?: unknown } ? Operation['requestBody'] : undefined
  >
}

/** The answer of a method: a status that the contract declares, with its headers and its body. */
export type ResultOf<Operation> = Operation extends { responses: infer Responses }
  ? Results<Responses>
  : never

/** A method for each operation of a contract, named by its operationId. */
export type Service<Operations> = {
  [Id in keyof Operations]: (
    request: RequestOf<Operations[Id]>,
  ) => Promise<ResultOf<Operations[Id]>>
}

type Part<Operation, Name extends string> = Operation extends {
  parameters: { [_ in Name]?: infer Value extends object }
}
  ? Readonly<Value>
  : unknown

type RequestBody<Described> = Described extends { content: infer Content }
  ? { [Type in keyof Content]: RequestValue<Type, Content[Type]> }[keyof Content]
  : undefined
type RangedType<Described> = Described extends { content: infer Content }
  ? Extract<keyof Content, Range> extends never
    ? undefined
    : string
  : undefined
type RequestValue<Type, Value> =
  Lower<Type> extends Json | Form
    ? Sent<Value, 'readOnly'>
    : Lower<Type> extends Text
      ? Value
      : AsyncIterable<Uint8Array>

/** Media types are compared without regard to case. */
type Lower<Type> = Lowercase<Type & string>
type Json = 'application/json' | 'text/json' | `${string}+json`
type Form = 'multipart/form-data' | 'application/x-www-form-urlencoded'
type Range = `${string}/*`
type Text = `text/${string}`

/** The type of a value without its `readOnly` members in a request, or its `writeOnly` members in a response; never: with all. */
export type Sent<Value, Hidden extends 'readOnly' | 'writeOnly'> =
  Value extends Mark<infer Inner>
    ? Sent<Inner, Hidden>
    : Value extends readonly unknown[]
      ? { [Index in keyof Value]: Sent<Value[Index], Hidden> }
      : Value extends File
        ? File
        : Value extends object
          ? Together<
              {
                [
                  Name in keyof Value as HasMark<Value[Name], Hidden> extends true ? never : Name
                ]: Sent<Value[Name], Hidden>
              },
              {
                [
                  Name in keyof Value as IsFilledIn<Value[Name], Hidden> extends true ? Name : never
                ]-?: Sent<Value[Name], Hidden>
              }
            >
          : Value
/** Both types. With one without members, numbers and texts would fit. */
type Together<All, FilledIn> = [keyof FilledIn] extends [never] ? All : All & FilledIn
/** Whether the type of a member has a mark. That of an index may have one among others. */
type HasMark<Member, Name> = [NonNullable<Member>] extends [never]
  ? false
  : [NonNullable<Member>] extends [{ readonly $mark: Name }]
    ? true
    : false
/** Whether a member of a request has a default: it is always present. */
type IsFilledIn<Member, Hidden> = 'readOnly' extends Hidden ? HasMark<Member, 'default'> : false

type Results<Responses> = {
  [Key in keyof Responses]: { readonly status: Status<Key, keyof Responses> } & Headers<
    Responses[Key]
  > &
    Body<Responses[Key]>
}[keyof Responses]

/** `default` is for the service's own errors. A method may use it only if no other response is a success. */
type Status<Key, All> = Key extends number
  ? Key
  : Key extends `${infer Class}XX`
    ? Exclude<StatusesInClass<Class>, All>
    : Extract<All, Success> extends never
      ? Exclude<StatusesInClass<'2' | '3' | '4' | '5'>, All>
      : never
type Success = StatusesInClass<'2' | '3'> | '2XX' | '3XX'
/** The statuses of a class: '4' means 400 to 499. */
type StatusesInClass<Class extends string> = ToNumber<`${Class}${Digit}${Digit}`>
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'
type ToNumber<Digits> = Digits extends `${infer Value extends number}` ? Value : never

type Headers<Response> = Response extends { headers: infer All } ? HeaderPart<Named<All>> : unknown
type Named<All> = { readonly [Name in keyof All as string extends Name ? never : Name]: All[Name] }
type HeaderPart<All> = object extends All
  ? { readonly headers?: Optional<All> }
  : { readonly headers: Optional<All> }
/** An optional header may be undefined, too. */
type Optional<All> = {
  [Name in keyof All]: object extends Pick<All, Name> ? All[Name] | undefined : All[Name]
}

/** The body, with its media type: the method must name it if the contract has several. */
type Body<Response> = Response extends { content: infer Content extends object }
  ? {
      [Type in keyof Content]: { readonly body: BodyValue<Type, Content[Type]> } & MediaTypeMember<
        Type,
        keyof Content
      >
    }[keyof Content]
  : { readonly body?: undefined }
type MediaTypeMember<Type, All> = Type extends `${infer Kind}/*`
  ? { readonly type: Kind extends '*' ? `${string}/${string}` : `${Kind}/${string}` }
  : [All] extends [Type]
    ? { readonly type?: Type }
    : { readonly type: Type }
/** A body may be JSON text already. An array may come in batches: it is streamed, with one batch in memory at a time. */
type BodyValue<Type, Value> =
  Lower<Type> extends Json
    ? | Sent<Value, 'writeOnly'>
      | JsonText<Sent<Value, 'writeOnly'>>
      | (Value extends readonly unknown[]
          ? AsyncIterable<JsonText<Sent<Value, 'writeOnly'>>>
          : never)
    : Lower<Type> extends Text
      ? Value
      : Uint8Array | AsyncIterable<Uint8Array>
