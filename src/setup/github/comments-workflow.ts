import { tickingJob } from './ticking-job.ts'
import { type GithubSetup, headOf, NOT_PAUSED } from './workflow-of.ts'

/** Who may say what is asked of GitHub by tick, for each comment: that it begins so is only why it is woken. */
export function commentsWorkflow(setup: GithubSetup): string {
  return `${headOf(setup)}
# Optional: without it winnow is steered by its command line, and comments are only comments.
name: winnow-comments
on:
  issue_comment:
    types: [created]

permissions: {}

jobs:
  tick:
    if: >-
      ${NOT_PAUSED} &&
      github.event.issue.pull_request && startsWith(github.event.comment.body, '/winnow')
${tickingJob(setup, { rights: 'comment', step: 'Hear, decide, act' })}`
}
