// Takes the comments away from a class of stubs, so that its methods can be compiled and asked.
import { dirname } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import ts from 'typescript'
import { withCredentials } from '../../../packages/testing/src/contract/credentials.ts'
import type { Operation } from '../inner/documented.ts'
import { exampleOf, toCall } from '../inner/inputs.ts'
import { tokenOf } from './scoped-tokens.ts'

/** The class with its methods: all comments that begin a line of the class are code, and no method is `notWritten`. */
export function withMethods(written: string): string {
  const code = written
    .replaceAll(/^ *readonly .* = notWritten\n/gm, '')
    .replaceAll(/^( *)\/\/ ?(?=\S| )/gm, '$1')
  return code.includes('notWritten()') ? code : code.replace(/^import \{ notWritten \}.*\n/m, '')
}

/** A token with the scopes of all operations. Call it before the store is opened. */
export function tokenFor(operations: readonly Operation[]): string {
  return tokenOf('alice', ...new Set(operations.flatMap(({ scopes }) => scopes)))
}

/** Compiles files as one program. @param tsconfig of a new service @returns the errors, by file */
export function errorsOf(files: readonly string[], tsconfig: string): Map<string, string[]> {
  const { config } = ts.parseConfigFileTextToJson('tsconfig.json', tsconfig) as { config: unknown }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(files[0] ?? ''))
  const program = ts.createProgram(files, options)
  const errors = new Map<string, string[]>()
  for (const { file, start = 0, messageText } of ts.getPreEmitDiagnostics(program)) {
    const name = file?.fileName ?? ''
    const { line } = file?.getLineAndCharacterOfPosition(start) ?? { line: 0 }
    const message = ts.flattenDiagnosticMessageText(messageText, '\n')
    errors.set(name, [...(errors.get(name) ?? []), `${line + 1}: ${message}`])
  }
  return errors
}

/** Sends the example of an operation, with a token if it needs one. @returns the status and the body */
export async function askOnce(app: FastifyInstance, operation: Operation, token: string) {
  const { credentials = [], isGuarded } = operation
  const needed = isGuarded ? credentials : []
  const call = withCredentials(toCall(operation, exampleOf(operation)), needed, token)
  const { method, path, headers, body } = call
  const request: InjectOptions = { method: method as 'GET', url: path, headers: byName(headers) }
  const answer = await app.inject(
    typeof body === 'string' ? { ...request, payload: body } : request,
  )
  return { status: answer.statusCode, body: answer.body }
}

/** Headers by name. Repeated ones are lists. */
function byName(headers: readonly string[]): Record<string, string[]> {
  const byName: Record<string, string[]> = {}
  for (const [index, name] of headers.entries())
    if (index % 2 === 0) byName[name] = [...(byName[name] ?? []), headers[index + 1] ?? '']
  return byName
}
