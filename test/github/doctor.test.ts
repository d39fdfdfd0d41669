import { expect, test } from 'vitest'
import { onGithub } from './on-github.ts'

const CI = 'on: { push: {}, pull_request: { branches: [main] } }\njobs: {}\n'
const QUIET = "on: { push: { branches-ignore: ['optimize*/**'] } }\njobs: {}\n"
const OLD = `on: { workflow_dispatch: {} }\njobs: { tick: { steps: [{ uses: x }] } }\n# uses: o/winnow@${'0'.repeat(40)}\n`

test('the doctor says what stands in the way, as far as the token may see, and changes nothing', async () => {
  const there = await onGithub([])
  const { github, winnow, env } = there
  there.commit('main', { '.github/workflows/ci.yml': CI, '.github/workflows/lint.yml': QUIET })
  const branches = () => there.git('for-each-ref', '--format=%(refname)')
  const before = branches()
  const job = await winnow('doctor')
  expect(job).toContain("!!  .github/workflows/ci.yml runs on winnow's branches too (push)")
  expect(job).toContain("ok  .github/workflows/lint.yml leaves winnow's branches alone")
  expect(job.join('\n')).toContain("add on.push.branches-ignore: ['optimize*/**']")
  expect(job.join('\n')).toContain("winnow's workflows are not on the default branch")
  expect(job.join('\n')).toContain('GitHub was not asked: there is no token')

  github.world.settings.actionsMayOpenPulls = false
  for (const name of ['winnow', 'winnow-measure', 'winnow-wake'])
    there.commit('main', { [`.github/workflows/${name}.yml`]: 'on: { workflow_dispatch: {} }\njobs: {}\n' })
  github.world.workflowStates.set('.github/workflows/winnow.yml', 'disabled_inactivity')
  env['GH_TOKEN'] = github.token('root', { permission: 'admin' })
  const admin = await winnow('doctor')
  expect(admin.join('\n')).toContain('approve pull requests" is off')
  expect(admin.join('\n')).toContain('winnow.yml is off (disabled_inactivity)')
  expect(admin.join('\n')).toContain("winnow's workflows are on the default branch")
  expect(admin).toContain("ok  no rule stands in the way of winnow's branches")
  expect(admin).toContain('ok  the clock is right')

  there.commit('main', { '.github/workflows/winnow.yml': OLD })
  expect((await winnow('doctor')).join('\n')).toContain('winnow.yml is not what this winnow writes')
  const called = OLD.replace('o/winnow@', 'o/winnow/.github/workflows/reusable-tick.yml@')
  there.commit('main', { '.github/workflows/winnow.yml': called })
  expect((await winnow('doctor')).join('\n')).toContain(
    'winnow init --github --reusable --action o/winnow@0000',
  )
  env['GH_TOKEN'] = github.token('eve', { permission: 'read' })
  const reader = await winnow('doctor')
  expect(reader.join('\n')).toContain("needs an administrator's token")
  env['GITHUB_TOKEN'] = 'expired'
  const wrong = await winnow('doctor')
  expect(wrong.join('\n')).toContain('check the token')
  expect(branches()).toBe(before)
})
