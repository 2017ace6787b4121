// The placeholder for a method which is not written yet.
import { HttpError } from '../../errors.ts'

/**
 * Stands for a missing method: its operation is answered 501. In `npm run dev` it is answered as one without a
 * method, with an example of the contract.
 * @throws {HttpError} 501
 * @example
 * ```ts
 * import { notWritten } from '@plant-store/engine'
 *
 * export class NoteService {
 *   readonly getNote = notWritten
 * }
 * ```
 */
export async function notWritten(): Promise<never> {
  throw new HttpError(501, 'This operation is not written yet')
}
