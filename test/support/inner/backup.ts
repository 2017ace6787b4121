// The steps of the command `backup`: a test calls them without a process.
export {
  checkDatabase,
  restoreBackup,
  saveBackup,
} from '../../../packages/store/src/sqlite/backup.ts'
