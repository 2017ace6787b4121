// Decides on the files a document may refer to. Its author may be malicious, and the target of a `$ref` is published with the
// contract: so files in other folders are never read, and URLs are never fetched.
import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'

const URL_IS_NOT_READ = 'only files are read: copy it beside the contract'
const FILE_IS_HIDDEN = 'a hidden file is never read: give it a name without a dot at the start'

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
  refusalOf(path: string): string | undefined {
    if (isUrl(path)) return URL_IS_NOT_READ
    if (path === this.#main) return undefined
    const places = [relative(this.#folder, path), this.#realPlaceOf(path)]
    if (places.some(isOutside)) return `only files in ${this.#name()} are read: ${ADVICE}`
    return places.some(isHidden) ? FILE_IS_HIDDEN : undefined
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

const ADVICE = 'copy it there, or name a wider folder by refsWithin'

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
