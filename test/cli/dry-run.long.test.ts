import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { VERBS } from '../../src/cli/registry.ts'
import { offer, project, SHORT, SPEC } from './project.ts'
import { releaseTest } from '../support/cases.ts'

/** Every write with the event or the ref that it would bring. */
const WRITES: Record<string, { argv: string[]; expected: string[] }> = {
  run: { argv: [], expected: ['experiment-opened', 'order-issued', 'refs/heads/optimize-state/size'] },
  try: { argv: [], expected: ['Nothing would be written.'] },
  tick: { argv: [], expected: ['experiment-opened', 'order-issued', 'refs/heads/optimize-state/size'] },
  propose: {
    argv: ['offered', '-m', 'x', '--name', 'mine'],
    expected: ['refs/heads/optimize-exp/size/mine created'],
  },
  idea: { argv: ['add', 'a thought'], expected: ['hypothesis-added {', '"hypothesis":"a thought"'] },
  measure: { argv: [], expected: ['No order is waiting to be measured.'] },
  note: { argv: ['hello'], expected: ['note {', '"text":"hello"'] },
  amend: { argv: ['-m', 'why'], expected: ['campaign-amended {', '"reason":"why"'] },
  approve: { argv: [], expected: ['No approvals are pending.', 'Nothing would be written.'] },
  revert: {
    argv: ['1', '-m', 'why'],
    expected: ['steered {', '"action":"revert"', '"experiment":"exp-001"'],
  },
  pick: { argv: ['1'], expected: ['steered {', '"action":"pick"', '"experiment":"exp-001"'] },
  avoid: { argv: ['loops by hand'], expected: ['steered {', '"reason":"loops by hand"'] },
  priority: { argv: ['idea-001', 'high'], expected: ['knob-changed {', '"to":"high"'] },
  pause: { argv: ['-m', 'why'], expected: ['campaign-paused {', '"reason":"why"'] },
  resume: { argv: [], expected: ['Campaign size is running already.', 'Nothing would be written.'] },
  stop: { argv: ['-m', 'why'], expected: ['campaign-stopped {', '"code":"person"'] },
  recover: { argv: [], expected: ['Nothing would be written.'] },
  rebuild: { argv: [], expected: ['refs/heads/optimize-state/size'] },
  archive: { argv: [], expected: ['/state created at', 'refs/heads/optimize-state/size', '-> deleted'] },
}

describe('--dry-run', () => {
  it('is tried here on every write', () => {
    const writes = VERBS.filter(({ access }) => access === 'write').map(({ name }) => name)
    expect([...Object.keys(WRITES), 'anchor', 'retry', 'rollback'].toSorted()).toEqual(writes.toSorted())
  })

  it('says of every write what it would be, and writes nothing', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('run')
    await offer(person, `${'a'.repeat(39)}\n`, [], 'optimize/size')
    person.git('checkout', '-q', '-b', 'offered', 'main')
    person.commit('again', { 'src/value': 'a\n' })
    person.git('checkout', '-q', 'main')
    person.write('.winnow/size.yaml', `${SPEC}limits: { max_files: 2 }\n`)
    await person.winnow('idea', 'add', 'an idea in words')
    const before = person.refs()
    for (const [verb, { argv, expected }] of Object.entries(WRITES)) {
      const { code, out, err } = await person.winnow(verb, ...argv, '--dry-run')
      expect(err.replace(/^note: .*\n/gm, ''), verb).toBe('')
      for (const part of expected) expect(out, verb).toContain(part)
      expect([0, 12, 14], verb).toContain(code)
      expect(person.refs(), verb).toBe(before)
    }
    for (const verb of ['run', 'try', 'idea', 'approve']) {
      const { out } = await person.winnow(verb, ...(WRITES[verb]?.argv ?? []), '--dry-run', '--json')
      expect(() => JSON.parse(out), `${verb}: ${out}`).not.toThrow()
      expect(person.refs(), verb).toBe(before)
    }
    const anchored = await person.winnow('anchor', '--dry-run')
    expect(anchored.err, 'anchor').toContain('git has no key to sign with')
    const retried = await person.winnow('retry', 'exp-001', '--dry-run')
    expect(retried.err, 'retry').toContain('cannot be retried')
    expect(person.refs(), 'retry').toBe(before)
    const { pushes } = await person.json('idea', 'add', 'a thought', '--dry-run')
    expect(pushes).toMatchObject([
      [
        {
          ref: 'refs/heads/optimize-state/size',
          events: [{ kind: 'hypothesis-added', hypothesis: 'a thought' }],
        },
      ],
    ])
    expect((await person.json('idea', 'add', 'a thought'))['added']).toEqual(['idea-002'])
    expect((await person.json('idea', 'drop', '2'))['dropped']).toEqual(['idea-002'])
  })

  releaseTest('says what a first run and a fresh one would begin with', async () => {
    const person = project()
    const before = person.refs()
    const first = await person.winnow('run', '--dry-run')
    expect(first.out).toContain('event 0 campaign-started {')
    expect(first.out).toContain('refs/heads/optimize/size created at')
    expect(person.refs()).toBe(before)
    await person.winnow('run')
    const started = person.refs()
    const fresh = await person.winnow('run', '--fresh', '--dry-run')
    expect(fresh.out).toContain('event 0 campaign-started {')
    expect(fresh.out).toMatch(/refs\/heads\/optimize-archive\/size\/\S+\/state created at/)
    expect(person.refs()).toBe(started)
  })

  it('asks no proposer', async () => {
    const person = project()
    await person.winnow('run')
    const asked = 'propose: [{ use: command, command: touch "$HOME/asked" }]'
    person.write('.winnow/size.yaml', `${SPEC}${asked}\n`)
    await person.winnow('amend', '-m', 'let a program try')
    expect((await person.winnow('run', '--dry-run')).out).toMatch(
      /^It would ask \S.* for one idea; the next steps depend on the answer\.$/m,
    )
    expect(existsSync(join(person.cache, 'asked'))).toBe(false)
    await person.winnow('tick')
    expect(existsSync(join(person.cache, 'asked'))).toBe(true)
  })

  releaseTest('says that a branch is checked out, as the real one would', async () => {
    const person = project()
    await person.winnow('run')
    person.git('checkout', '-q', 'optimize-state/size')
    const { code, err } = await person.winnow('note', 'x', '--dry-run')
    expect([code, err]).toEqual([2, expect.stringContaining('is checked out in')])
  })
})

describe('a verb that only reads', () => {
  releaseTest('writes nothing, also where a pull request has to be found merged', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    const before = person.refs()
    for (const verb of ['status', 'log', 'check', 'audit', 'replay']) {
      expect((await person.winnow(verb)).code, verb).toBe(0)
      expect((await person.winnow(verb, '--json')).code, verb).toBe(0)
    }
    expect(person.refs()).toBe(before)
  })
})
