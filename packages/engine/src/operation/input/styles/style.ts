// The common type of the styles: how the strings of one parameter become a value.
import type { FastifyRequest } from 'fastify'
import type { Parameter } from '../../../contract/compiled.ts'

export type Style = (parameter: Parameter) => ReadParameter

/**
 * Reads a parameter.
 * @param received the strings in the parameter's place, by their names there: see `place.ts`
 * @returns undefined if the parameter was not sent
 * @throws {HttpError} 400 if it is not spelled by its style
 */
export type ReadParameter = (received: object, request: FastifyRequest) => unknown
