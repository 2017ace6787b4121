// The files that a document may refer to. Its author may be a stranger: whatever a `$ref` leads to is published with the
// contract, so a file that lies elsewhere is never read, and neither is a URL.
import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'

const URL_IS_NOT_READ = 'only files are read: copy it beside the contract'
const FILE_IS_HIDDEN = 'a hidden file is never read: give it a name without a dot at the start'

/** The files in one folder and the folders below it. */
export class Reach {
  readonly #main: string
  readonly #folder: string

  /**
   * @param main the path of the main file, which may always be read
   * @param folder the widest folder of the other files. By default it is the folder of the main file
   */
  constructor(main: string, folder: string = dirname(main)) {
    this.#main = resolve(main)
    this.#folder = resolve(folder)
  }

  /** Why a file is never read; undefined if it may be read. @param path an absolute path, or a URL */
  refusalOf(path: string): string | undefined {
    if (isUrl(path)) return URL_IS_NOT_READ
    if (path === this.#main) return undefined
    const places = [relative(this.#folder, path), this.#realPlaceOf(path)]
    if (places.some(isOutside)) return `only files in ${this.#name()} are read: ${ADVICE}`
    return places.some(isHidden) ? FILE_IS_HIDDEN : undefined
  }

  /** The place of a file in the folder after all symbolic links. A file that is missing has the place of its name. */
  #realPlaceOf(path: string): string {
    const isNamedOutside = isOutside(relative(this.#folder, path))
    if (isNamedOutside) return '..' // nobody learns whether it exists
    try {
      return relative(realpathSync(this.#folder), realpathSync(path))
    } catch {
      return relative(this.#folder, path)
    }
  }

  /** The folder for people. */
  #name(): string {
    return relative('', this.#folder) || 'the folder of the contract'
  }
}

const ADVICE = 'copy it there, or name a wider folder by refsWithin'

/** Whether a reference is a URL, also one without a scheme (RFC 3986, section 4.2). */
export const isUrl = (reference: string) => URL.canParse(reference) || reference.startsWith('//')

/** Whether a path that is relative to a folder leads out of it. */
function isOutside(place: string): boolean {
  return place === '..' || place.startsWith(`..${sep}`) || isAbsolute(place)
}

/** Whether a file, or a folder around it, has a name that begins with a dot, as those with secrets and settings have. */
function isHidden(place: string): boolean {
  return place.split(sep).some((name) => name.startsWith('.'))
}
