/** Actions of other people, each as the commit that its version was when we looked; a tag could be moved. */
export const PINNED = {
  'actions/checkout': ['de0fac2e4500dabe0009e67214ff5f5447ce83dd', 'v6.0.2'],
  'actions/upload-artifact': ['b7c566a772e6b6bfb58ed0dc250532a479d7789f', 'v6.0.0'],
  'actions/download-artifact': ['37930b1c2abaa49bbe596cd826c3c89aef350131', 'v7.0.0'],
  'actions/setup-node': ['6044e13b5dc448c55e2357c09f80417699197238', 'v6.2.0'],
  'actions/setup-python': ['a309ff8b426b58ec0e2a45f0f869d46889d02405', 'v6.2.0'],
  'actions/setup-go': ['7a3fe6cf4cb3a834922a1244abfce67bcef6a0c5', 'v6.2.0'],
  'actions/setup-java': ['be666c2fcd27ec809703dec50e508c2fdc7f6654', 'v5.2.0'],
} as const
export type PinnedAction = keyof typeof PINNED

/** As it stands after `uses:`. */
export function formatPinnedAction(action: PinnedAction): string {
  const [commit, version] = PINNED[action]
  return `${action}@${commit} # ${version}`
}
