import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listRestingProposers } from '../../src/plan/backlog.ts'
import { submitIdea } from '../../src/engine/campaign/submit.ts'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const ONE_AT_A_TIME = 'merge: { max_open_experiments: 1, forgeable: allow }\nexecution: { mode: serial }\n'

describe('patches', () => {
  it('are refused when they conflict with a kept change, or cannot be read', async () => {
    const site = await createSizeRepository(
      [
        shorter('a', 3),
        shorter('a', 2, 'another way'),
        `---\nhypotesis: no\n---\n`,
        'diff --git a/x b/x\n',
        patchOf({ 'src/nowhere.txt': ['a\n', 'b\n'] }, { hypothesis: 'of another tree' }),
        `---\nhypothesis: nothing\n---\n`,
        patchOf({ 'bench/test.sh': ['#!/bin/sh\n', 'exit 0\n'] }, { hypothesis: 'cheats' }),
        shorter('b', 4),
        shorter('b', 4, 'the same as before'),
      ],
      { spec: ONE_AT_A_TIME },
    )
    await site.start()
    await site.run()
    const { experiments } = await site.campaign()
    const said = Object.values(experiments).map(({ hypothesis, outcome, reason }) => [
      hypothesis,
      outcome,
      reason,
    ])
    expect(said).toEqual([
      ['a3', 'kept', 'bytes 48 -> 36 (-25.0 %), deterministic, identical when re-run'],
      ['another way', 'refused', 'ideas/02.patch conflicts with the incumbent in src/a.txt'],
      [
        'patch ideas/03.patch',
        'refused',
        'ideas/03.patch:2:1 hypothesis found nothing, expected text; add hypothesis (and 1 more)',
      ],
      [
        'patch ideas/04.patch',
        'refused',
        'ideas/04.patch does not apply to the incumbent: git finds no change in it; make it with git diff or git format-patch',
      ],
      [
        'of another tree',
        'refused',
        'ideas/05.patch:4 does not apply to the incumbent: src/nowhere.txt does not exist',
      ],
      ['nothing', 'refused', expect.stringContaining('changes nothing')],
      ['cheats', 'refused', expect.stringContaining('ideas/07.patch:7 does not apply')],
      ['b4', 'kept', 'bytes 36 -> 25 (-30.6 %), deterministic, identical when re-run'],
      ['the same as before', 'refused', 'changes nothing against the incumbent'],
    ])
    await site.proven()
  })

  releaseTest('that make the same tree as an earlier one are refused with its name', async () => {
    const site = await createSizeRepository([shorter('a', 20), shorter('a', 20, 'the same files')])
    await site.start()
    await site.run()
    expect(await site.outcomes()).toEqual({ a20: 'dropped', 'the same files': 'refused' })
    expect(await site.reasonOf('the same files')).toBe('the same files as exp-001')
    await site.proven()
  })

  it('wait for the approval of their packages', async () => {
    const needy = patchOf(
      { 'src/a.txt': [letters('a', 15), 'a\n'] },
      { hypothesis: 'needs', required_deps: ['left-pad'] },
    )
    const site = await createSizeRepository([needy])
    await site.start()
    expect(await site.run()).toEqual({
      for: 'person',
      what: expect.stringMatching(/approval of left-pad for exp-001/),
    })
    const asked = (await site.events()).find(({ kind }) => kind === 'approval-requested')
    if (asked?.kind !== 'approval-requested') throw new Error('nobody was asked')
    const { experiment, digest, packages } = asked
    expect(packages).toEqual(['left-pad'])
    await site.person({ kind: 'approved', experiment, digest, packages })
    await site.run()
    expect(await site.outcomes()).toEqual({ needs: 'kept' })
    await site.proven()
  })
})

describe('ideas of people', () => {
  it.each(selectCases([{ remote: true }, { remote: false }]))(
    'arrive as pushed branches and as pull requests, remote: $remote',
    async ({ remote }) => {
      const site = await createSizeRepository([], { remote })
      await site.start()
      site.push(
        site.commitOn('main', { 'src/a.txt': letters('a', 3) }, 'pushed\n\nbody'),
        'optimize-exp/size/one',
      )
      const block = '```winnow\nhypothesis: told in a block\ncategory: letters\npriority: high\n```'
      const commit = site.commitOn('main', { 'src/b.txt': letters('b', 4) }, 'subject')
      const offered = { from: site.origin, isOurs: false }
      const message = `a title\n\nHello.\n\n${block}\n`
      await submitIdea(site.place, { ...offered, commit, name: 'two', message })
      const other = site.commitOn('main', { 'src/c.txt': letters('c', 20) }, 'subject')
      const wrong = 'a wrong block\n\n```winnow\npriorty: high\n```\n'
      await submitIdea(site.place, { ...offered, commit: other, name: 'three', message: wrong })

      await site.run()
      expect(await site.outcomes()).toEqual({
        pushed: expect.stringMatching(/kept/),
        'told in a block': expect.stringMatching(/kept/),
        'a wrong block': 'dropped',
      })
      expect(await site.experiment('told in a block')).toMatchObject({
        category: 'letters',
        priority: 'high',
      })
      expect((await site.experiment('a wrong block')).learnings).toMatch(
        /was not used: commit message:4:1.*priorty/,
      )
      expect(site.bare('show', 'optimize/size:src/b.txt')).toBe('bbbb')
      await site.proven()
    },
  )

  it('out of scope are refused without a measurement, and keep their branch', async () => {
    const site = await createSizeRepository([], { remote: true })
    await site.start()
    const commit = site.commitOn(
      'main',
      { 'bench/size.sh': '#!/bin/sh\necho 0\n', 'src/l.txt': 'x\n' },
      'cheats',
    )
    const idea = { commit, from: site.origin, isOurs: false, name: 'mine', message: 'cheats' }
    await submitIdea(site.place, idea)
    await site.run()
    expect(await site.reasonOf('cheats')).toBe('changes 1 file outside scope.mutable: bench/size.sh')
    expect(site.bare('rev-parse', 'optimize-exp/size/mine')).toBe(commit)
    expect(site.bare('for-each-ref', '--contains', commit, '--format=%(refname)')).toBe(
      'refs/heads/optimize-exp/size/mine',
    )
    await site.proven()
  })

  releaseTest('with a reserved name are refused', async () => {
    const site = await createSizeRepository([])
    await site.start()
    const idea = { commit: site.git('rev-parse', 'main'), from: site.repo, isOurs: false, message: '' }
    await expect(submitIdea(site.place, { ...idea, name: 'exp-007' })).rejects.toThrow(
      'exp-007 is a name that winnow reserves for itself',
    )
  })
})

describe('a command proposer', () => {
  const PROGRAM = `#!/bin/sh
case "$(wc -c < src/a.txt)" in
  16) printf 'aaa\\n' > src/a.txt; echo '{"hypothesis": "three letters do", "learnings": "letters cost"}';;
  *) echo 'nothing comes to mind' >&2; exit 3;;
esac
`
  const spec = (text: string) =>
    `${text.replace(/propose: .*\n/, 'propose: [{ use: command, command: sh tools/think.sh, name: thinker }]\n')}execution: { mode: serial }\nmerge: { forgeable: allow }\n`

  releaseTest('is disabled with an alert after ten answers without a kept change', async () => {
    const site = await createSizeRepository([], { spec, files: { 'tools/think.sh': PROGRAM } })
    await site.start()
    expect(await site.run()).toEqual({
      for: 'nothing',
      reason: 'no idea is left, and no proposer or person can add one',
    })
    expect(await site.outcomes()).toEqual({ 'three letters do': 'kept' })
    expect((await site.experiment('three letters do')).learnings).toBe('letters cost')
    expect((await site.campaign()).proposers).toMatchObject({ thinker: { failures: 10, disabled: true } })
    expect(await site.alerts()).toEqual([
      'thinker failed to produce a usable idea 10 times in a row and was disabled; winnow resume asks it again',
    ])
    const asked = (await site.events()).flatMap(event => (event.kind === 'spent' ? [event.ok] : []))
    expect(asked).toEqual([true, ...Array(10).fill(false)])
    expect(site.said).toContain('No idea from thinker: thinker ended with exit code 3: nothing comes to mind')
    await site.person({ kind: 'campaign-resumed', reason: 'its key is renewed' })
    await site.run()
    expect((await site.campaign()).proposers).toMatchObject({ thinker: { failures: 3, disabled: true } })
    await site.proven()
  })

  it('that repeats an answer gets another backlog idea, and the first one stays open', async () => {
    const program = `#!/bin/sh
cat > "$HOME/brief"
grep -q 'Carry out this idea' "$HOME/brief" && echo handed >> "$HOME/handed"
printf 'd\\n' > src/d.txt
echo '{"hypothesis": "another file"}'
`
    const home = mkdtempSync(join(tmpdir(), 'winnow-backlog-'))
    const files = { 'tools/think.sh': program }
    const site = await createSizeRepository(
      [patchOf({ 'src/d.txt': [null, 'd\n'] }, { hypothesis: 'longer' })],
      {
        spec: text => spec(text).replace('propose: [', 'propose: [{ use: patch, dir: ideas }, '),
        files,
        env: { HOME: home },
      },
    )
    await site.start()
    const told = { category: 'text', required_deps: [], family: null, source: 'ada' }
    const added = { kind: 'hypothesis-added', hypothesis: 'drop vowels', ...told } as const
    await site.person({ ...added, priority: 'high' })
    await site.run()
    const handed = readFileSync(join(home, 'handed'), 'utf8').trim().split('\n')
    rmSync(home, { recursive: true })
    const campaign = await site.campaign()
    expect(campaign.backlog).toMatchObject([{ status: 'open', experiment: null, outcome: null }])
    // The first brief may be older than the experiment that its answer repeats: that answer is not a refused one.
    const repeated = (await site.events()).filter(({ kind }) => kind === 'answer-repeated')
    expect(handed).toHaveLength(2 + repeated.length)
    const [idea] = campaign.backlog
    if (idea === undefined) throw new Error('the backlog is empty')
    expect([...listRestingProposers(campaign, idea)]).toEqual([
      ['thinker', [expect.any(String), expect.any(String)]],
    ])
    expect(campaign.proposers).toMatchObject({ thinker: { disabled: true } })
    await site.proven()
  })

  releaseTest('that runs four times at once gets another task each time', async () => {
    const program = `#!/bin/sh
cat > "$(mktemp "$HOME/brief.XXXXXX")"
until [ "$(ls "$HOME" | grep -c brief)" -ge 4 ]; do sleep 0.1; done
exit 3
`
    const four = (text: string) => spec(text).replace('mode: serial', 'max_concurrent: 4')
    const home = mkdtempSync(join(tmpdir(), 'winnow-briefs-'))
    const env = { HOME: home }
    const site = await createSizeRepository([], { spec: four, files: { 'tools/think.sh': program }, env })
    await site.start()
    await site.run()
    const briefs = readdirSync(home).flatMap(name =>
      name.startsWith('brief.') ? [readFileSync(join(home, name), 'utf8')] : [],
    )
    rmSync(home, { recursive: true })
    const places = briefs.map(text => /## Where to look\n- (.*)\n/.exec(text)?.[1])
    expect(places).not.toContain(undefined)
    expect(new Set(places).size).toBeGreaterThanOrEqual(4)
  })

  releaseTest('with four equal answers at once has given one idea, and has not failed', async () => {
    const program = `#!/bin/sh
[ "$(ls "$HOME" | grep -c asked)" -lt 4 ] || exit 3
: > "$(mktemp "$HOME/asked.XXXXXX")"
until [ "$(ls "$HOME" | grep -c asked)" -ge 4 ]; do sleep 0.1; done
printf 'aaa\\n' > src/a.txt
`
    const four = (text: string) => spec(text).replace('mode: serial', 'max_concurrent: 4')
    const home = mkdtempSync(join(tmpdir(), 'winnow-same-'))
    const site = await createSizeRepository([], {
      spec: four,
      files: { 'tools/think.sh': program },
      env: { HOME: home },
    })
    await site.start()
    const { proposers, experiments } = await site.until(
      all => 'exp-001' in all.experiments && all.landings.length > 0,
    )
    rmSync(home, { recursive: true, force: true })
    expect(Object.values(experiments)).toMatchObject([{ outcome: 'kept' }])
    expect(proposers['thinker']?.disabled).toBe(false)
    const kinds = (await site.events()).map(({ kind }) => kind)
    expect(kinds.filter(kind => kind === 'answer-repeated')).toHaveLength(3)
    await site.proven()
  })

  releaseTest('is not asked again for an idea that another machine found', async () => {
    const site = await createSizeRepository([], {
      remote: true,
      spec,
      files: { 'tools/think.sh': PROGRAM },
    })
    await site.start()
    await site.until(({ experiments }) => 'exp-001' in experiments)
    const head = site.bare('rev-parse', 'optimize-exp/size/exp-001')
    expect(site.bare('show', `${head}:src/a.txt`)).toBe('aaa')
    await site.run()
    await site.proven()
  })
})
