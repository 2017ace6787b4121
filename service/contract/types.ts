// The types that a service is written with.
import type { Mark } from './compiled.ts'
import type { operations } from './contract.gen.ts'
import type { JsonText } from '../http/json.ts'

export type { components } from './contract.gen.ts'

/** The operationIds of the contract. */
export type OperationId = keyof operations

/** What the service gets of a request: the parts that the contract describes, validated. An int64 is a `bigint`. */
export interface Request<Id extends OperationId> {
  /** Whom the credentials name; empty if there are none, and none are needed. */
  readonly caller: string
  readonly path: Part<Id, 'path'>
  readonly query: Part<Id, 'query'>
  readonly header: Part<Id, 'header'>
  /** JSON as it is described, a text, the fields and files of a form, or bytes as they arrive. */
  readonly body: RequestBody<operations[Id]>
}

/** What the service answers: a status that the contract declares, with the headers and the body of that status. */
export type Result<Id extends OperationId> = Results<operations[Id]['responses']>

/** A method for each operation of the contract, named by its operationId. */
export type Service = { [Id in OperationId]: (request: Request<Id>) => Promise<Result<Id>> }

type Part<Id extends OperationId, Name extends string> = operations[Id]['parameters'] extends {
  [_ in Name]?: infer Value extends object
}
  ? Readonly<Value>
  : unknown

type RequestBody<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? Received<Content>
  : Operation extends { requestBody?: { content: infer Content } }
    ? Received<Content> | undefined
    : undefined
type Received<Content> = { [Type in keyof Content]: ReceivedAs<Type, Content[Type]> }[keyof Content]
type ReceivedAs<Type, Value> = Type extends Json | 'multipart/form-data'
  ? Requested<Value>
  : Type extends Text
    ? Value
    : AsyncIterable<Uint8Array>

type Json = 'application/json' | `${string}+json`
type Text = `text/${string}`

/** A value without what is only in responses; what has a default is there. */
type Requested<Value> =
  Value extends Mark<'writeOnly' | 'default', infer Inner>
    ? Requested<Inner>
    : Value extends File
      ? File
      : Value extends object
        ? {
            [Name in keyof Value as Marked<Value[Name], 'readOnly' | 'default'> extends true ? never : Name]: Requested<
              Value[Name]
            >
          } & {
            [Name in keyof Value as Marked<Value[Name], 'default'> extends true ? Name : never]-?: Requested<
              Value[Name]
            >
          }
        : Value

/** A value without what is only in requests. */
type Responded<Value> =
  Value extends Mark<'readOnly' | 'default', infer Inner>
    ? Responded<Inner>
    : Value extends object
      ? {
          [Name in keyof Value as Marked<Value[Name], 'writeOnly'> extends true ? never : Name]: Responded<Value[Name]>
        }
      : Value
type Marked<Value, Name extends string> = NonNullable<Value> extends { readonly $mark: Name } ? true : false

/** The statuses of a class: of '4', 400 to 499. */
type StatusesOf<Class extends string> = ToNumber<`${Class}${Digit}${Digit}`>
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'
type ToNumber<Text> = Text extends `${infer Value extends number}` ? Value : never
type Success = StatusesOf<'2'> | StatusesOf<'3'> | '2XX' | '3XX'

type Results<Responses> = {
  [Key in keyof Responses]: { readonly status: Status<Key, keyof Responses> } & Headers<Responses[Key]> &
    Body<Responses[Key]>
}[keyof Responses]
/** `default` is what is answered without the method, but where no other response is a success. */
type Status<Key, All> = Key extends number
  ? Key
  : Key extends `${infer Class}XX`
    ? Exclude<StatusesOf<Class>, All>
    : Extract<All, Success> extends never
      ? Exclude<StatusesOf<'2' | '3' | '4' | '5'>, All>
      : never

type Headers<Response> = Response extends { headers: infer All } ? HeaderPart<Named<All>> : unknown
type Named<All> = { readonly [Name in keyof All as string extends Name ? never : Name]: All[Name] }
type HeaderPart<All> = object extends All ? { readonly headers?: All } : { readonly headers: All }

type Body<Response> = Response extends { content: infer Content extends object }
  ? {
      [Type in keyof Content]: { readonly body: Given<Type, Content[Type]> } & TypeOf<Type, keyof Content>
    }[keyof Content]
  : { readonly body?: undefined }
/** Which media type a body has is to be said where there are several. */
type TypeOf<Type, All> = [All] extends [Type] ? { readonly type?: Type } : { readonly type: Type }
/** A body may be JSON already. An array may be answered in batches: it is then streamed, in the memory of one batch. */
type Given<Type, Value> = Type extends Json
  ? Responded<Value> | JsonText<Value> | (Value extends readonly unknown[] ? AsyncIterable<JsonText<Value>> : never)
  : Type extends Text
    ? Value
    : Uint8Array | AsyncIterable<Uint8Array>
