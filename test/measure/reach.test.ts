import { describe, expect, it } from 'vitest'
import { listReaches } from '../../src/measure/process/supervisor.ts'
import { describeUnisolated } from '../../src/model/reach.ts'

const ALWAYS = ['files', 'network', 'memory']

describe('how sides of one user can reach each other', () => {
  it('depends on what their supervisor gives each of them for itself', () => {
    const list = (strategy: Parameters<typeof listReaches>[0]['strategy'], dir = '/home/ada/.cache') =>
      listReaches({ strategy }, dir)
    expect(list('pid-namespace')).toEqual(ALWAYS)
    expect(list('pid-namespace', '/var/tmp/winnow')).toEqual([...ALWAYS, '/tmp'])
    expect(list('pid-namespace', '/dev/shm/winnow')).toEqual([...ALWAYS, 'shared memory'])
    expect(list('shell-namespace')).toEqual([...ALWAYS, 'shared memory', '/tmp'])
    expect(list('group')).toEqual([...ALWAYS, 'processes', 'shared memory', '/tmp'])
    expect(list('subreaper')).toEqual(list('group'))
  })

  it('is one sentence', () => {
    const flags = ['unisolated']
    expect(describeUnisolated({ flags, reach: ['/tmp', 'files', 'memory'] })).toBe(
      "not isolated: both sides ran as one user, so one could reach the other through its files, /tmp and the machine's memory, which has no limit",
    )
    expect(describeUnisolated({ flags })).toContain('where the system has no namespaces')
  })
})
