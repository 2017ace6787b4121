// Decides on the files a document may refer to. Its author may be malicious, and the target of a `$ref` is published with the
// contract: so files in other folders are never read, and URLs are never fetched.
import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import type { Finding } from '../sentences/sentences.ts'

export class Reach {
  readonly #main: string
  readonly #folder: string

  /**
   * @param main the path of the main file, which may always be read
   * @param folder the folder that must hold all other files; by default the folder of the main file
   */
  constructor(main: string, folder: string = dirname(main)) {
    this.#main = resolve(main)
    this.#folder = resolve(folder)
  }

  /** Says why a file must not be read; undefined if it may be read. @param path an absolute path, or a URL */
  refusalOf(path: string): Finding | undefined {
    if (isUrl(path)) return { code: 'file-by-url' }
    if (path === this.#main) return undefined
    const places = [relative(this.#folder, path), this.#realPlaceOf(path)]
    if (places.some(isOutside)) return { code: 'file-outside', folder: this.#name() }
    return places.some(isHidden) ? { code: 'file-hidden' } : undefined
  }

  /** The place of a file in the folder, with symbolic links resolved; for a missing file, the place of its name. */
  #realPlaceOf(path: string): string {
    const isNamedOutside = isOutside(relative(this.#folder, path))
    if (isNamedOutside) return '..' // it is not even looked for
    try {
      return relative(realpathSync(this.#folder), realpathSync(path))
    } catch {
      return relative(this.#folder, path)
    }
  }

  #name(): string {
    return relative('', this.#folder) || 'the folder of the contract'
  }
}

/** Whether a reference is a URL, with or without a scheme (RFC 3986, section 4.2). */
export const isUrl = (reference: string) => URL.canParse(reference) || reference.startsWith('//')

/** Whether a relative path leads out of its folder. */
function isOutside(place: string): boolean {
  return place === '..' || place.startsWith(`..${sep}`) || isAbsolute(place)
}

/** Whether a file, or a folder around it, is hidden by a dot, as secrets and settings often are. */
function isHidden(place: string): boolean {
  return place.split(sep).some((name) => name.startsWith('.'))
}
