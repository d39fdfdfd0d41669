import { describe, expect, it } from 'vitest'
import { offer, project, SHORT } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

describe('an idea that is offered', () => {
  it.each(
    selectCases(
      [
        [['nothing'], 'nothing is not a commit of this repository'],
        [
          ['-m', 'x', '--priority', 'urgent'],
          "argument 'urgent' is invalid. Allowed choices are high, medium, low",
        ],
        [['-m', 'x', '--name', '../up'], '"../up" cannot name an idea'],
        [['-m', 'x', '--name', 'exp-001'], 'exp-001 is a name that winnow reserves for itself'],
        [['main', '-m', 'x'], 'has no commit that optimize/size lacks'],
      ],
      2,
    ),
  )('%j is refused with what is wrong', async (argv, expected) => {
    const person = project()
    await person.winnow('run')
    const before = person.refs()
    const { code, err } = await person.winnow('propose', ...argv)
    expect(person.refs()).toBe(before)
    expect([code, err]).toEqual([2, expect.stringContaining(expected)])
  })

  it('that is on the optimize branch already leaves nothing behind, whatever name it is given', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('run')
    const before = person.refs()
    for (const name of ['again', 'mine']) {
      const { code, err } = await person.winnow('propose', 'optimize/size', '-m', 'x', '--name', name)
      expect([code, err]).toEqual([2, expect.stringContaining('has no commit that optimize/size lacks')])
    }
    expect(person.refs()).toBe(before)
  })

  it('appears as a branch', async () => {
    const person = project()
    await person.winnow('run')
    person.commit('shorter', { 'src/value': SHORT })
    const { out } = await person.winnow('propose', '-m', 'x', '--name', 'mine', '--dry-run')
    expect(out.match(/^one push$/gm)).toHaveLength(1)
    expect(out).toMatch(/^ {2}refs\/heads\/optimize-exp\/size\/mine created at /m)
  })

  releaseTest('is not lost where several are offered at once', async () => {
    const person = project()
    await person.winnow('run')
    const commits = [1, 2, 3].map(each =>
      person.git('commit-tree', '-p', 'main', '-m', `v${each}`, 'main^{tree}'),
    )
    const answers = await Promise.all(
      commits.map((commit, index) => person.winnow('propose', commit, '-m', 'x', '--name', `idea${index}`)),
    )
    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0])
    for (const index of [0, 1, 2])
      expect(person.git('branch', '--list', `optimize-exp/size/idea${index}`)).not.toBe('')
  })

  it('leaves no branch behind where it cannot be written as a whole', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    person.git('checkout', '-q', '-b', 'optimize-exp/size/mine')
    const before = person.refs()
    const offered = person.git('commit-tree', '-p', 'main', '-m', 'v2', 'main^{tree}')
    const { code, err } = await person.winnow('propose', offered, '-m', 'x', '--name', 'mine')
    expect([code, err]).toEqual([2, expect.stringContaining('is checked out in')])
    expect(person.refs()).toBe(before)
  })

  releaseTest('is updated by offering another commit under its name', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, `${'a'.repeat(89)}\n`, ['--name', 'mine'])
    const again = await person.winnow(
      'propose',
      person.git('commit-tree', '-p', 'main', '-m', 'v2', 'main^{tree}'),
      '-m',
      '90 bytes',
      '--name',
      'mine',
    )
    expect(again.out).toContain('optimize-exp/size/mine')
  })

  it('waits for approval where it adds a package', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT, ['--needs', 'left-pad'])
    const { code, out } = await person.winnow('run')
    expect([code, out]).toEqual([14, expect.stringContaining('approval of left-pad for exp-001')])
    expect((await person.winnow('status')).out).toContain('Waiting for approval of left-pad.')
  })
})
