//! Has Zed start the language server of llsd in YAML files.

use zed_extension_api::{self as zed, settings::LspSettings, LanguageServerId, Worktree};

const SERVER: &str = "llsd";

struct Llsd;

impl zed::Extension for Llsd {
    fn new() -> Self {
        Self
    }

    /// The program that the settings name (`lsp.llsd.binary`), or the one in the user's PATH.
    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> zed::Result<zed::Command> {
        let binary = LspSettings::for_worktree(SERVER, worktree).ok().and_then(|settings| settings.binary);
        let (path, arguments) = binary.map_or((None, None), |binary| (binary.path, binary.arguments));
        let command = path
            .or_else(|| worktree.which(SERVER))
            .ok_or("llsd is not in the PATH: install it, or name the program in the setting lsp.llsd.binary.path")?;
        let args = arguments.unwrap_or_else(|| vec!["lsp".to_owned()]);
        Ok(zed::Command { command, args, env: worktree.shell_env() })
    }

    fn language_server_initialization_options(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> zed::Result<Option<zed::serde_json::Value>> {
        Ok(LspSettings::for_worktree(SERVER, worktree)?.initialization_options)
    }

    /// What Zed answers when the server asks for its settings.
    fn language_server_workspace_configuration(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> zed::Result<Option<zed::serde_json::Value>> {
        Ok(LspSettings::for_worktree(SERVER, worktree)?.settings)
    }
}

zed::register_extension!(Llsd);
