// Loaded before a program without access to the network: each connection fails.
import { Socket } from 'node:net'

Socket.prototype.connect = () => {
  throw new Error('no URL is asked')
}
