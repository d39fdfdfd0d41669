import { describe, expect, it } from 'vitest'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import type { TestRepository } from '../support/repository.ts'
import { releaseTest } from '../support/cases.ts'

const REMOTE = { remote: true, spec: 'execution: { mode: serial }\n' }

/** A campaign that has kept its first idea, a3. */
async function underWay(ideas: readonly string[] = [], options = REMOTE): Promise<TestRepository> {
  const site = await createSizeRepository([shorter('a', 3), ...ideas], options)
  await site.start()
  await site.run()
  return site
}

function optimize(site: TestRepository): string {
  return site.bare('rev-parse', 'optimize/size')
}

async function foreignStates(site: TestRepository): Promise<string[]> {
  return (await site.events()).flatMap(event => (event.kind === 'foreign-tip' ? [event.state] : []))
}

/** Everything a fresh clone of one branch would bring. */
function keeps(site: TestRepository, commit: string): boolean {
  return site.bare('rev-list', 'optimize-closed/size').split('\n').includes(commit)
}

describe('a foreign tip of the optimize branch', () => {
  it('that merges an experiment by hand is measured and adopted', async () => {
    const site = await createSizeRepository([shorter('a', 3), shorter('b', 4)], REMOTE)
    await site.start()
    await site.until(({ experiments }) => Object.keys(experiments).length === 2)
    const [tip, head] = [optimize(site), site.bare('rev-parse', 'optimize-exp/size/exp-002')]
    const person = ['-c', 'user.name=P', '-c', 'user.email=p@example.invalid']
    const merge = ['commit-tree', '-p', tip, '-p', head, '-m', 'Merge pull request', `${head}^{tree}`]
    const merged = site.bare(...person, ...merge)
    site.push(merged, 'optimize/size')

    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await foreignStates(site)).toEqual(['found', 'adopted'])
    expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('aaa')
    expect(site.bare('show', 'optimize/size:src/b.txt')).toBe('bbbb')
    expect(keeps(site, merged)).toBe(true)
    expect(await site.alerts()).toEqual([
      `the optimize branch is at ${merged.slice(0, 10)}, which winnow did not put there: winnow merges nothing until it has measured that commit`,
    ])
    expect(await site.outcomes()).toMatchObject({ a3: 'kept' })
    await site.proven()
  })

  it('that is harmless is adopted, and later experiments are measured on it', async () => {
    const site = await underWay()
    const pushed = site.commitOn(optimize(site), { 'src/b.txt': letters('b', 9) })
    site.push(pushed, 'optimize/size')
    await site.run()
    expect(await foreignStates(site)).toEqual(['found', 'adopted'])
    expect((await site.campaign()).incumbent.commit).toBe(pushed)
    expect(site.bare('rev-parse', 'optimize-campaign/size')).toBe(pushed)
    await site.proven()
  })

  it('that is worse is moved back, and its commits are kept', async () => {
    const site = await underWay()
    const before = optimize(site)
    const pushed = site.commitOn(before, { 'src/b.txt': letters('b', 40) })
    site.push(pushed, 'optimize/size')
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await foreignStates(site)).toEqual(['found', 'moved-back'])
    const back = (await site.events()).findLast(({ kind }) => kind === 'foreign-tip')
    expect(back).toMatchObject({ reason: 'worse: bytes 36 -> 61 (+69.4 %), deterministic' })
    expect(optimize(site)).toBe(before)
    expect(keeps(site, pushed)).toBe(true)
    await site.proven()
  })

  releaseTest('that is out of scope is moved back without running its code', async () => {
    const site = await underWay()
    const before = optimize(site)
    const pushed = site.commitOn(before, { 'bench/size.sh': '#!/bin/sh\necho \'{"bytes": 1}\'\n' })
    site.push(pushed, 'optimize/size')
    await site.run()
    const orders = (await site.events()).filter(
      event => event.kind === 'order-issued' && event.purpose === 'foreign',
    )
    expect(orders).toEqual([])
    const back = (await site.events()).findLast(({ kind }) => kind === 'foreign-tip')
    expect(back).toMatchObject({
      state: 'moved-back',
      reason: 'changes 1 file outside scope.mutable: bench/size.sh',
    })
    expect(optimize(site)).toBe(before)
    await site.proven()
  })

  releaseTest('that is an earlier commit is moved forward again', async () => {
    const site = await underWay()
    const before = optimize(site)
    site.push(site.bare('rev-parse', 'main'), 'optimize/size')
    await site.run()
    expect(optimize(site)).toBe(before)
    expect(await foreignStates(site)).toEqual(['found', 'moved-back'])
    await site.proven()
  })

  releaseTest('that is deleted is restored with an alert, every time', async () => {
    const site = await underWay()
    const before = optimize(site)
    for (const times of [1, 2]) {
      site.bare('update-ref', '-d', 'refs/heads/optimize/size')
      expect(await site.run()).toEqual({ for: 'ideas' })
      expect(optimize(site)).toBe(before)
      const alerts = Array.from({ length: times }, () =>
        expect.stringContaining('was deleted; it is restored'),
      )
      expect(await site.alerts()).toEqual(alerts)
    }
    await site.proven()
  })

  releaseTest('that appears during a measurement has the experiments measured again on it', async () => {
    const site = await createSizeRepository([shorter('a', 3)], REMOTE)
    await site.start()
    await site.until(({ experiments }) => experiments['exp-001']?.status === 'ordered')
    site.push(site.commitOn(optimize(site), { 'src/b.txt': letters('b', 9) }), 'optimize/size')
    await site.run()
    expect(await site.outcomes()).toEqual({ a3: 'kept' })
    expect(await site.reasonOf('a3')).toContain('bytes 42 -> 30')
    await site.proven()
  })

  releaseTest('that is gone before it was measured leaves nothing to do', async () => {
    const site = await underWay()
    const before = optimize(site)
    const pushed = site.commitOn(before, { 'src/b.txt': 'slow\n' })
    site.push(pushed, 'optimize/size')
    await site.until(({ orders }) => Object.values(orders).some(({ order }) => order.purpose === 'foreign'))
    site.push(before, 'optimize/size')
    expect(await site.run()).toEqual({ for: 'ideas' })
    const back = (await site.events()).findLast(({ kind }) => kind === 'foreign-tip')
    expect(back).toMatchObject({
      state: 'moved-back',
      reason: 'the branch points to the recorded incumbent again',
    })
    await site.proven()
  })
})

describe('a remote that does not let the optimize branch be moved back', () => {
  it('pauses the campaign with the message of the remote, and continues when it is allowed', async () => {
    const site = await underWay()
    const before = optimize(site)
    const pushed = site.commitOn(before, { 'src/b.txt': letters('b', 40) })
    site.push(pushed, 'optimize/size')
    const refuse = 'echo "GH006: Protected branch update failed" >&2; exit 1'
    site.hook('pre-receive', `grep -q refs/heads/optimize/size && { ${refuse}; }\nexit 0`)
    const waiting = await site.run()
    expect(waiting).toEqual({
      for: 'person',
      what: expect.stringMatching(
        /paused: the remote rejected the push to optimize\/size: .*GH006: Protected branch/s,
      ),
    })
    expect(await site.alerts()).toEqual([
      expect.stringContaining('which winnow did not put there'),
      expect.stringContaining('GH006: Protected branch update failed'),
    ])
    expect(optimize(site)).toBe(pushed)
    await site.proven()

    site.hook('pre-receive', null)
    await site.person({ kind: 'campaign-resumed', reason: 'the rule is gone' })
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(optimize(site)).toBe(before)
    await site.proven()
  })
})
