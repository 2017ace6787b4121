// Makes the first commit of a new service.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { environmentWithout, reasonOf } from '@plant-store/engine/for-compiler'

const execute = promisify(execFile)
/** The variables with another repository for git. A git hook, such as `pre-commit`, sets them. */
const OF_ANOTHER =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|NAMESPACE|PREFIX|CEILING_DIRECTORIES|ALTERNATE_OBJECT_DIRECTORIES|TEMPLATE_DIR)$/

/**
 * Makes a repository with one commit. Its author is the user of git's configuration, or else the service.
 * @returns why there is no commit, if there is none
 */
export async function commit(folder: string, message: string): Promise<string | undefined> {
  const env = environmentWithout(OF_ANOTHER)
  const git = (...words: string[]) => execute('git', words, { cwd: folder, env })
  try {
    await git('init', '--quiet', '--initial-branch=main')
    await git('add', '--all')
    const isNamed = await git('var', 'GIT_AUTHOR_IDENT').then(
      () => true,
      () => false,
    )
    const author = isNamed ? [] : ['-c', 'user.name=service', '-c', 'user.email=service@localhost']
    await git(...author, 'commit', '--quiet', '--no-verify', '--no-gpg-sign', '--message', message)
    return undefined
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    return `no commit is made: ${isAbsent ? 'git is not installed' : reasonOf(error)}`
  }
}
