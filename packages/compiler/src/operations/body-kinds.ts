// Tells the kind of a body by its media type, and advises against unsupported types.
import type { BodyKind } from '@plant-store/engine/for-compiler'

/** Unsupported media types, with advice for the author of the document. */
const UNSUPPORTED: readonly [pattern: RegExp, instead: string][] = [
  [
    /;|[^/*]\*|\*[^/]|^\*\/[^*]/,
    'write each media type by its name, or all of a kind as image/*, without parameters',
  ],
  [
    /^(?!.*[;*])(?![\w!#$%&'+.^`|~-]+\/[\w!#$%&'+.^`|~-]+$)/, // RFC 9110, section 8.3.1
    'write the name of a media type, such as application/json',
  ],
  [
    /^(text|application)\/xml$|\+xml$|^application\/(x-)?(yaml|ndjson|jsonl|json-seq)$/,
    'write application/json',
  ],
  [/^multipart\/(?!form-data$)/, 'write multipart/form-data'],
]

const JSON_TYPE = /^(application|text)\/json$|\+json$/

/** The kinds of bodies, and server-sent events, which only responses can be. */
export type MediaKind = BodyKind | 'events'

/** The kind of a media type; `instead` has the advice for an unsupported one. */
export function bodyKind(mediaType: string): MediaKind | { readonly instead: string } {
  const type = mediaType.toLowerCase()
  const instead = UNSUPPORTED.find(([pattern]) => pattern.test(type))?.[1]
  if (instead !== undefined) return { instead }
  if (JSON_TYPE.test(type)) return 'json'
  if (type === 'text/event-stream') return 'events'
  if (type === 'multipart/form-data') return 'multipart'
  if (type === 'application/x-www-form-urlencoded') return 'urlencoded'
  return type.startsWith('text/') ? 'text' : 'bytes'
}
