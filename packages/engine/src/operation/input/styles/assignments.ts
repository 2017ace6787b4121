// Reads an object as assignments between commas, `b=1,c=2`: style `simple` with `explode`.
import { commaObjectReader } from './commas.ts'
import { splitAssignment } from '../strings/parsing.ts'
import type { Style } from './style.ts'

export const assignments: Style = (parameter) =>
  commaObjectReader(parameter, (parts) => parts.map(splitAssignment), 'b=1,c=2')
