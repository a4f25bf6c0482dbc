if vim.g.loaded_llsd then return end
vim.g.loaded_llsd = true

local function command(name, run, options)
  vim.api.nvim_create_user_command(name, function(arguments) require('llsd')[run](arguments.fargs[1]) end, options)
end

command('LlsdPreview', 'preview', { desc = 'The generated config of the resource at the cursor, beside it' })
command('LlsdDiff', 'diff', {
  desc = 'The generated config beside another one',
  nargs = '?',
  complete = function() return { 'base', 'saved', 'cluster' } end,
})
command('LlsdMigrate', 'migrate', { desc = 'What a migration of the resource or config at the cursor would make' })
command('LlsdApply', 'apply', { desc = 'Make the migration that is shown' })
