// The door for the commands of the other packages: the command line, and the terminal. Internal: it
// may change in any version.
export { printError } from './ops/terminal.ts'
export { oneOf, readWords, runCommand } from './programs/command.ts'
