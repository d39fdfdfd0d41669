import { expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { explainDiskError } from '../../src/engine/controller/tick.ts'

const DIRECTORIES = { dataDir: '/cache/data', machineDir: '/cache/machine' }

it.each<[string, object, boolean]>([
  ['a file of winnow', { code: 'EACCES', path: '/cache/data/x' }, true],
  ['a write to an open file', { code: 'ENOSPC', syscall: 'write' }, true],
  ['a file of the user', { code: 'EACCES', path: '/home/x' }, false],
  ['a connection', { code: 'EACCES', syscall: 'connect' }, false],
  ['a process', { code: 'EPERM', syscall: 'kill' }, false],
])('an error of %s blames the disk only where the disk is the cause', (_, fields, isExplained) => {
  const error = Object.assign(new Error('refused'), fields)
  const explained = explainDiskError(DIRECTORIES, error)
  if (isExplained) expect(explained).toBeInstanceOf(UserError)
  else expect(explained).toBe(error)
})
