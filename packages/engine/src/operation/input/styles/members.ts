// Reads an object in a query, each property by its name, `b=1&c=2`: style `form` with `explode`.
import { propertiesReader } from './property.ts'
import type { Style } from './style.ts'

export const members: Style = (parameter) => {
  const { members: names = [], reserved } = parameter
  const isProperty = (key: string) => names.includes(key) || reserved?.includes(key) === false
  return propertiesReader(parameter, (key) => (isProperty(key) ? key : undefined))
}
