-- Neovim 0.11 finds this by itself: `vim.lsp.enable('llsd')` is all that a user writes.
return {
  cmd = { 'llsd', 'lsp' },
  filetypes = { 'yaml' },
  root_markers = { 'llsd.toml', '.git' },
  settings = { llsd = {} },
}
