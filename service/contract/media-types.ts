/** How a body of a media type is read and written: as JSON, as text in UTF-8, as a form of fields and files, or as bytes. */
export type Kind = 'json' | 'text' | 'form' | 'bytes'

const REFUSED: readonly [pattern: RegExp, instead: string][] = [
  [/[*;]/, 'write each media type by its name, without parameters'],
  [/^text\/event-stream$/, 'an answer ends; write application/json'],
  [/^application\/x-www-form-urlencoded$/, 'write multipart/form-data or application/json'],
  [/^(text|application)\/xml$|\+xml$|^application\/(x-)?(yaml|ndjson|jsonl|json-seq)$/, 'write application/json'],
  [/^multipart\/(?!form-data$)/, 'write multipart/form-data'],
]

/** How bodies of a media type are read and written, or what to write instead of it. */
export function kindOf(type: string): Kind | { readonly instead: string } {
  const instead = REFUSED.find(([pattern]) => pattern.test(type))?.[1]
  if (instead !== undefined) return { instead }
  if (/^application\/json$|\+json$/.test(type)) return 'json'
  if (type === 'multipart/form-data') return 'form'
  return type.startsWith('text/') ? 'text' : 'bytes'
}
