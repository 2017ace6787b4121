// Loaded before a program that must ask nobody: each connection that it would open fails.
import { Socket } from 'node:net'

Socket.prototype.connect = () => {
  throw new Error('no URL is asked')
}
