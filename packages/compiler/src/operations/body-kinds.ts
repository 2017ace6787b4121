// Tells the kind of a body by its media type, and names the errors about unsupported types.
import type { BodyKind } from '@plant-store/engine/for-compiler'

/** Unsupported media types, with the codes of their errors. */
const UNSUPPORTED = [
  [/;|[^/*]\*|\*[^/]|^\*\/[^*]/, 'media-type-range'],
  [
    /^(?!.*[;*])(?![\w!#$%&'+.^`|~-]+\/[\w!#$%&'+.^`|~-]+$)/, // RFC 9110, section 8.3.1
    'media-type-unnamed',
  ],
  [
    /^(text|application)\/xml$|\+xml$|^application\/(x-)?(yaml|ndjson|jsonl|json-seq)$/,
    'media-type-unparsed',
  ],
  [/^multipart\/(?!form-data$)/, 'media-type-multipart'],
] as const

type UnsupportedCode = (typeof UNSUPPORTED)[number][1]

const JSON_TYPE = /^(application|text)\/json$|\+json$/

/** The kinds of bodies, and server-sent events, which only responses can be. */
export type MediaKind = BodyKind | 'events'

/** The kind of a media type, or the code of the error about an unsupported one. */
export function bodyKind(mediaType: string): MediaKind | { readonly code: UnsupportedCode } {
  const type = mediaType.toLowerCase()
  const code = UNSUPPORTED.find(([pattern]) => pattern.test(type))?.[1]
  if (code !== undefined) return { code }
  if (JSON_TYPE.test(type)) return 'json'
  if (type === 'text/event-stream') return 'events'
  if (type === 'multipart/form-data') return 'multipart'
  if (type === 'application/x-www-form-urlencoded') return 'urlencoded'
  return type.startsWith('text/') ? 'text' : 'bytes'
}
