import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MAKE_USERS, REMOVE_USERS } from '../../src/measure/isolation/side-users.ts'
import { describeMachineLeftovers } from '../../src/cli/uninstall.ts'
import { scratch } from '../git/scratch.ts'

describe('what every repository of a machine shares', () => {
  const none = () => join(scratch('winnow-none-'), 'none')

  it('is named with what removes it, and only what is there', () => {
    const dir = scratch('winnow-sides-')
    expect(describeMachineLeftovers(none(), () => false)).toEqual([])
    expect(describeMachineLeftovers(dir, () => false)).toEqual([
      `Kept: ${dir}, where sides with users of their own are measured, for every repository of this machine`,
      `  to remove it, when no repository needs it and no measurement runs, as root: rm -rf ${dir}`,
    ])
    expect(describeMachineLeftovers(none(), () => true)).toEqual([
      'Kept: the users winnow-1 to winnow-6, for every repository of this machine',
      `  to remove it, when no repository needs it and no measurement runs, as root: ${REMOVE_USERS}`,
    ])
    const [both = '', how = ''] = describeMachineLeftovers(dir, () => true)
    expect(both).toContain(`${dir}, where sides with users of their own are measured, and the users winnow-1`)
    expect(how).toMatch(/as root: rm -rf .*; for n in 1 2 3 4 5 6; do userdel winnow-\$n; done$/)
  })

  it('loses those users that were made, each of them', () => {
    const named = (line: string) =>
      execFileSync('sh', [
        '-c',
        `useradd() { for last; do :; done; echo "$last"; }; userdel() { echo "$1"; }; ${line}`,
      ])
        .toString()
        .trim()
        .split('\n')
    expect(named(REMOVE_USERS)).toEqual(named(MAKE_USERS))
    expect(named(MAKE_USERS)).toHaveLength(6)
  })
})
