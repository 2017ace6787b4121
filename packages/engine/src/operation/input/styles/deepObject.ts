// Reads an object in a query, each property in brackets, `a[b]=1&a[c]=2`: style `deepObject`.
import { propertiesReader } from './property.ts'
import type { Style } from './style.ts'

export const deepObject: Style = (parameter) => {
  const start = `${parameter.name}[`
  return propertiesReader(parameter, (key) => {
    const isProperty = key.startsWith(start) && key.endsWith(']')
    return isProperty ? key.slice(start.length, -1) : undefined
  })
}
