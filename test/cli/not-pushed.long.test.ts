import { describe, expect, it } from 'vitest'
import { clonedProject, FILES, project, SPEC } from './project.ts'
import { releaseTest } from '../support/cases.ts'

const PUSH = 'fix: git push, or run winnow with --remote none to use this repository alone'

describe('a spec that is committed and not pushed', () => {
  const { '.winnow/size.yaml': spec, ...rest } = FILES
  const unpushed = () => {
    const person = clonedProject(rest)
    person.commit('spec', { '.winnow/size.yaml': spec })
    return person
  }

  it('is named by whatever needs it, with both ways on', async () => {
    const person = unpushed()
    for (const argv of [
      ['run'],
      ['status'],
      ['run', '.winnow/size.yaml'],
      ['run', '--campaign', 'size'],
      ['try'],
    ]) {
      const { code, err } = await person.winnow(...argv)
      expect([argv, code]).toEqual([argv, 2])
      expect(err).toContain(
        '.winnow/size.yaml is committed here but not pushed: main of the remote does not have it',
      )
      expect(err).toContain(PUSH)
    }
  })

  it('can be checked, which says so', async () => {
    const { err, out } = await unpushed().winnow('check', '--no-try')
    expect(`${out}${err}`).toContain(
      '.winnow/size.yaml is committed here but not pushed: main of the remote does not have it, so winnow run does not use it: git push',
    )
  })

  it('runs with --remote none', async () => {
    expect((await unpushed().winnow('run', '--remote', 'none')).code).toBe(14)
  })

  releaseTest('is not what is meant by another name', async () => {
    const { err } = await unpushed().winnow('run', '--campaign', 'speed')
    expect(err).not.toContain('not pushed')
  })
})

describe('a spec without "winnow: 1"', () => {
  const CE = SPEC.replace('winnow: 1\n', '')
  const said = 'the file has no "winnow: 1", so winnow reads it as a ce-optimize spec'

  it('is said to be read as a ce-optimize spec by check and run', async () => {
    const person = project({ ...FILES, '.winnow/size.yaml': CE })
    const checked = await person.winnow('check', '--no-try')
    expect(`${checked.out}${checked.err}`).toContain(said)
    expect((await person.winnow('run')).err).toContain(`note: ${said}`)
  })

  releaseTest('has that said beside its mistakes', async () => {
    const person = project({ ...FILES, '.winnow/size.yaml': CE.replace('minimize', 'smaller') })
    const { code, err } = await person.winnow('check')
    expect(code).toBe(2)
    expect(err).toContain(`note: ${said}`)
    const own = project({ ...FILES, '.winnow/size.yaml': SPEC.replace('minimize', 'smaller') })
    expect((await own.winnow('check')).err).not.toContain('ce-optimize')
  })
})
