// Writes pieces of TypeScript: unions, intersections, blocks and comments.
import { docComment } from '../operations/printing.ts'

export function union(types: readonly string[]): string {
  const distinct = [...new Set(types)].filter((type) => type !== 'never')
  if (distinct.includes('unknown')) return 'unknown'
  return distinct.length === 0 ? 'never' : distinct.join(' | ')
}

export function intersection(types: readonly string[]): string {
  const distinct = [...new Set(types)].filter((type) => type !== 'unknown')
  if (distinct.length === 0) return 'unknown'
  return distinct.length === 1
    ? String(distinct[0])
    : distinct.map((type) => `(${type})`).join(' & ')
}

export const indent = (code: string) => code.replaceAll(/^/gm, '    ')

export function comment(joint: readonly Readonly<Record<string, unknown>>[]): string {
  const description = joint
    .map((schema) => schema['description'])
    .find((value) => typeof value === 'string')
  const isDeprecated = joint.some((schema) => schema['deprecated'] === true)
  const words = [description, isDeprecated ? '@deprecated' : undefined].filter(Boolean).join(' ')
  return words === '' ? '' : `${docComment(words)}\n`
}

export const block = (lines: readonly string[]) =>
  lines.length === 0 ? '{}' : `{\n${indent(lines.join('\n'))}\n}`
