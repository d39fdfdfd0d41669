export const CODEOWNERS = '.github/CODEOWNERS'

/** What package.json says of where the project lives. npm refuses provenance for any other `repository.url`. */
export function projectLinks(repository: string) {
  const page = `https://github.com/${repository}`
  return {
    homepage: `${page}#readme`,
    bugs: { url: `${page}/issues` },
    repository: { type: 'git', url: `git+${page}.git` },
  }
}

export function renderCodeowners(owners: readonly string[]): string {
  return `# GitHub asks these people to review every change. A later line overrides an earlier one.\n* ${owners.join(' ')}\n`
}

export function hasOwners(codeowners: string): boolean {
  return codeowners.split('\n').some(line => /^[^#\s]\S*\s+@\S/.test(line))
}
