import { describe, expect, it } from 'vitest'
import { offer, project, SHORT } from './project.ts'

describe('an idea that is offered', () => {
  it.each([
    [['nothing'], 'nothing is not a commit of this repository'],
    [['-m', 'x', '--priority', 'urgent'], '--priority urgent is not one'],
    [['-m', 'x', '--name', '../up'], '"../up" cannot name an idea'],
    [['-m', 'x', '--name', 'exp-001'], 'exp-001 is a name that winnow gives itself'],
    [['main', '-m', 'x'], 'has no commit that optimize/size lacks'],
  ])('%j is refused with what is wrong', async (argv, expected) => {
    const person = project()
    await person.winnow('run')
    const { code, err } = await person.winnow('propose', ...argv)
    expect([code, err]).toEqual([2, expect.stringContaining(expected)])
  })

  it('is updated by offering another commit under its name', async () => {
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
    expect(again.out).toContain('#1 optimize-exp/size/mine')
  })

  it('waits for approval where it adds a package', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT, ['--dep', 'left-pad'])
    const { code, out } = await person.winnow('run')
    expect([code, out]).toEqual([14, expect.stringContaining('approval of exp-001')])
    expect((await person.winnow('status')).out).toContain('Waiting for approval.')
  })
})
