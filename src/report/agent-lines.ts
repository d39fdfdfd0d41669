/** What `init --agent` adds to AGENTS.md: six lines, the same for the same campaign, so that they can be found again. */
export function renderAgentInstructions(specName: string): string[] {
  return [
    '## winnow: measured improvements',
    `- \`.winnow/${specName}.yaml\` says what is improved, how it is measured and which files may change; never edit it, nor the harness or its gates.`,
    `- Try an idea: edit files in scope, then \`winnow try --campaign ${specName} -m "what changes and why it helps" --json\`; no commit is needed.`,
    '- Its exit code is the verdict: 0 kept, 10 no gain, 11 not proven, 12 refused, 13 broken, 14 waiting, 15 worse; `next` says what to do.',
    `- A gain you measured yourself is no evidence; what was tried already is in \`winnow status --campaign ${specName} --json\`.`,
    `- What is kept is merged into \`optimize/${specName}\`: start the next idea from there, one idea at a time.`,
  ]
}
