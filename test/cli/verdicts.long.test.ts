import { describe, expect, it } from 'vitest'
import { FILES, offer, project, proven, SHORT, SPEC } from './project.ts'
import { releaseTest } from '../support/cases.ts'

describe('a campaign that has run', () => {
  it('shows its events, all or those of one experiment', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT, ['--category', 'size', '--priority', 'high', '--family', 'shorter'])
    await person.winnow('run')
    const { out } = await person.winnow('log', '--json')
    const events = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index))
    expect(events[0]).toMatchObject({ kind: 'campaign-started', spec: 'size', by: { actor: 'ada' } })
    const lines = (await person.winnow('log')).out.trimEnd().split('\n')
    expect(lines).toHaveLength(events.length)
    expect(lines[0]).toMatch(/^0 {2}\d{4}-\S+Z {2}campaign size started at /)

    const shown = await person.winnow('show', '1')
    expect(shown.out).toMatch(/^exp-001 Kept: bytes 100 -> 50/)
    expect(shown.out).toContain('category  size, priority high')
    const view = await person.json('show', 'exp-001')
    expect(view).toMatchObject({ id: 'exp-001', verdict: 'kept', pr: null })
    expect(JSON.stringify(view['events'])).toContain('"kind":"decided"')
    expect((await person.winnow('show', 'exp-002')).err).toBe(
      'error: there is no experiment exp-002 in campaign size\n  fix: did you mean exp-001?\n',
    )
  })

  it('says of every verdict without gain what it is', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, `${'a'.repeat(149)}\n`)
    await offer(person, '')
    person.git('checkout', '-q', '--detach', 'main')
    person.commit('cheat', { 'bench/size.sh': 'echo 1\n' })
    await person.winnow('propose', '-m', 'cheat')
    person.git('checkout', '-q', 'main')
    await person.winnow('run')
    const { out } = await person.winnow('status')
    expect(out).toMatch(/^exp-002 {2}Worse: bytes 100 -> 150 \(\+50\.0 %\)/m)
    expect(out).toMatch(/^exp-001 {2}Broken: gate tests failed/m)
    expect(out).toMatch(/^exp-003 {2}Refused: .*bench\/size\.sh/m)
    await proven(person)
  })

  releaseTest('says under stored-score rules that they are not noise-proof', async () => {
    const spec = SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, stability: { mode: stable }')
    const person = project({ ...FILES, '.winnow/size.yaml': spec })
    await person.winnow('run')
    expect((await person.winnow('status')).out).toContain(
      'note: compared with a stored score; not noise-proof',
    )
  })

  releaseTest('takes a kept experiment back when asked to', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('run')
    expect((await person.winnow('revert', '1', '-m', 'breaks Windows')).out).toBe(
      'exp-001 will be reverted by the next winnow tick or run.\n',
    )
    const again = await person.winnow('revert', '1', '-m', 'really')
    expect([again.code, again.err]).toEqual([
      2,
      'error: the revert of exp-001 was requested already: breaks Windows\n  fix: nothing to do: the next winnow tick or run reverts it\n',
    ])
    expect((await person.winnow('run')).err).toMatch(/^exp-001 reverted by [0-9a-f]{12}$/m)
    expect(await person.json('status')).toMatchObject({
      incumbent: { metrics: { bytes: 100 } },
      verdicts: { kept: 0, reverted: 1 },
      experiments: [{ id: 'exp-001', outcome: 'kept', verdict: 'kept, then reverted' }],
    })
    expect((await person.winnow('status')).out).toMatch(/^exp-001 {2}Kept, then reverted: bytes 100 -> 50/m)
    expect((await person.winnow('show', '1')).out).toMatch(/^exp-001 Kept, then reverted: /)
    expect((await person.winnow('stop')).code).toBe(0)
    const stopped = await person.winnow('run')
    expect([stopped.code, stopped.out]).toEqual([
      10,
      expect.stringContaining('1 experiment: 1 kept, then reverted'),
    ])
    expect((await person.winnow('revert', '1')).err).toBe(
      'error: exp-001 was reverted already\n  fix: the campaign has no kept change\n',
    )
    await proven(person)
  })

  releaseTest('says that a stopped campaign takes nothing back before it is resumed', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('run')
    await person.winnow('stop')
    expect((await person.winnow('revert', '1')).out).toBe(
      'Recorded. Campaign size is stopped: winnow reverts exp-001 after winnow resume.\n',
    )
  })

  releaseTest('shows no branch of an idea that was refused before one was made', async () => {
    const refused = `---
hypothesis: cheat
---
--- a/bench/size.sh
+++ b/bench/size.sh
@@ -1 +1 @@
-${FILES['bench/size.sh'].trimEnd()}
+echo 1
`
    const spec = `${SPEC}propose: [{ use: patch, dir: ideas }]\n`
    const person = project({ ...FILES, '.winnow/size.yaml': spec, 'ideas/1.patch': refused })
    const { code } = await person.winnow('run')
    expect(code).toBe(12)
    expect(person.refs()).not.toContain('optimize-exp')
    expect(await person.json('status')).toMatchObject({
      experiments: [{ outcome: 'refused', pr: null, branch: null }],
    })
    expect((await person.winnow('show', '1')).out).not.toContain('branch')
  })

  releaseTest('does not take back what was not kept', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, `${'a'.repeat(149)}\n`)
    await person.winnow('run')
    const { code, err } = await person.winnow('revert', '1')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('exp-001 was not kept, so it cannot be reverted'),
    ])
  })
})
