// Shared by the styles of objects: the names of properties.
import type { Parameter } from '../../../contract/compiled.ts'
import { HttpError } from '../../../errors.ts'
import { Sent } from '../strings/sent.ts'
import type { ReadParameter } from './style.ts'

/**
 * Makes the reader of an object whose properties are sent one by one.
 * @param propertyOf the property for a name in the query; undefined if the name belongs to another
 * parameter
 */
export function propertiesReader(
  parameter: Parameter,
  propertyOf: (key: string) => string | undefined,
): ReadParameter {
  return (received) => {
    const properties: Record<string, Sent> = {}
    for (const [key, value] of Object.entries(received)) {
      const property = propertyOf(key)
      if (property === undefined) continue
      checkProperty(parameter, property)
      properties[property] = new Sent([value as string | string[]].flat())
    }
    return Object.keys(properties).length === 0 ? undefined : properties
  }
}

/** @throws {HttpError} 400 for `__proto__`, and for more levels than `deepObject` has */
export function checkProperty({ in: place, name, sentAs }: Parameter, property: string): void {
  const isDeeper = sentAs === 'deepObject' && /[[\]]/.test(property)
  if (property === '__proto__' || isDeeper)
    throw new HttpError(400, `${place}/${name} must not have the property [${property}]`)
}
