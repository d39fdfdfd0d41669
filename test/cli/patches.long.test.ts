import { describe, expect, it } from 'vitest'
import { FILES, type Project, project, SHORT, SPEC } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const WITH_FOLDER = {
  ...FILES,
  '.winnow/size.yaml': `${SPEC}propose: [{ use: external }, { use: patch, dir: ideas }]\n`,
}

/** Commits on a branch of their own, as git format-patch or git diff prints them; main stays as it is. */
function exported(person: Project, contents: readonly string[], ...command: string[]): string {
  person.git('checkout', '-q', '-b', 'ideas', 'main')
  for (const [index, content] of contents.entries())
    person.commit(`Shorter ${index + 1}`, { 'src/value': content })
  const text = `${person.git(...command)}\n`
  person.git('checkout', '-q', 'main')
  return text
}

describe('a patch file that is proposed', () => {
  it('is measured like a commit, under the subject of its mail', async () => {
    const person = project()
    await person.winnow('run')
    person.write('one.patch', exported(person, [SHORT], 'format-patch', '--stdout', '-1'))
    const { code, out } = await person.winnow('propose', 'one.patch')
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^optimize-exp\/size\/shorter-1-[0-9a-f]{8}: Shorter 1$/m),
    ])
    expect((await person.winnow('run')).out).toContain('exp-001')
    expect((await person.winnow('status')).out).toContain('Shorter 1')
  })

  releaseTest('of several mails is an idea for each, also by idea import', async () => {
    const person = project()
    await person.winnow('run')
    const contents = [`${'a'.repeat(90)}\n`, `${'a'.repeat(80)}\n`]
    person.write('all.mbox', exported(person, contents, 'format-patch', '--stdout', '-2'))
    const named = await person.winnow('propose', 'all.mbox', '-m', 'x')
    expect([named.code, named.err]).toEqual([2, expect.stringContaining('the file has 2 ideas')])
    const { code, out } = await person.winnow('idea', 'import', 'all.mbox')
    expect(code).toBe(0)
    expect(out.match(/^optimize-exp\/.*: Shorter \d$/gm)).toHaveLength(2)
    expect((await person.winnow('idea', 'list')).out).not.toContain('diff --git')
  })

  it('may add a package that a person has to approve, also by idea import', async () => {
    const person = project()
    await person.winnow('run')
    person.write('one.patch', exported(person, [SHORT], 'format-patch', '--stdout', '-1'))
    const { out } = await person.winnow('idea', 'import', 'one.patch', '--needs', 'tiny-pack')
    const [branch = ''] = /^optimize-exp\/\S+(?=:)/m.exec(out) ?? []
    expect(person.git('log', '-1', '--format=%B', branch)).toContain('tiny-pack')
  })

  it('that does not apply is named with its line, and nothing of its file is offered', async () => {
    const person = project()
    await person.winnow('run')
    const diff = exported(person, [SHORT], 'diff', 'HEAD~1').replace(/^-a+$/m, '-b')
    person.write('one.diff', `A shorter value\n\n${diff}`)
    const before = person.refs()
    const { code, err } = await person.winnow('propose', 'one.diff')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(
        'one.diff:7 does not apply to the incumbent: src/value does not match at line 1',
      ),
    ])
    expect(person.refs()).toBe(before)
  })

  releaseTest('that is not there is called neither a commit nor a patch', async () => {
    const person = project()
    await person.winnow('run')
    const { code, err } = await person.winnow('propose', 'none.patch')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('is not a commit of this repository, and no patch file'),
    ])
  })
})

describe('check with a folder of patches', () => {
  it('reads every patch, lists the ideas, and names file and line of those that cannot be used', async () => {
    const person = project(WITH_FOLDER)
    const good = exported(person, [SHORT], 'format-patch', '--stdout', '-1')
    person.commit('ideas', {
      'ideas/1-good.patch': good,
      'ideas/2-other.patch': good.replace(/^-a+$/m, '-b'),
      'ideas/3-front.patch': `---\nhypothesis: x\npriorty: high\n---\n${good}`,
      'ideas/4-words.patch': 'make it shorter\n',
    })
    const { code, out } = await person.winnow('check', '--no-try')
    expect(code).toBe(0)
    expect(out).toContain('the patches in ideas of the default branch: 1 idea (Shorter 1)')
    expect(out).toMatch(
      /warning: this patch cannot be used: ideas\/2-other\.patch:\d+ does not apply to the default branch/,
    )
    expect(out).toContain('ideas/3-front.patch:3:1')
    expect(out).toContain('ideas/4-words.patch:1: there is no diff in it')
  })

  it.each(selectCases(['../ideas', '/tmp/ideas']))(
    'refuses a folder outside the repository: %s',
    async dir => {
      const person = project({
        ...FILES,
        '.winnow/size.yaml': `${SPEC}propose: [{ use: patch, dir: ${dir} }]\n`,
      })
      const { code, err } = await person.winnow('check', '--no-try')
      expect([code, err]).toEqual([2, expect.stringContaining('propose[0].dir')])
      expect(err).toContain('.winnow/size.yaml:6')
      expect((await person.winnow('run')).code).toBe(2)
    },
  )

  it('refuses a folder that is a file; a running campaign is told to amend', async () => {
    const person = project(WITH_FOLDER)
    expect((await person.winnow('run')).code).toBe(14)
    person.commit('a file', { ideas: 'x\n' })
    const checked = await person.winnow('check', '--no-try')
    expect([checked.code, checked.err]).toEqual([2, expect.stringContaining('.winnow/size.yaml propose.dir')])
    const { code, err } = await person.winnow('run')
    expect([code, err]).toEqual([2, expect.stringContaining('then run winnow amend -m')])
  })
})
