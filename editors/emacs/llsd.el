;;; llsd.el --- LlamaStackDistribution resources with eglot -*- lexical-binding: t; -*-

;; Author: The llsd authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: languages, tools
;; URL: https://github.com/llamastack/llsd
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Has eglot start the language server of llsd in YAML buffers, and adds commands for what the protocol does not know:
;; `llsd-preview' and `llsd-migrate'.
;;
;;   (require 'llsd)
;;   (llsd-setup)

;;; Code:

(require 'eglot)

(defgroup llsd nil
  "LlamaStackDistribution resources."
  :group 'tools
  :prefix "llsd-")

(defcustom llsd-program "llsd"
  "The program of the language server."
  :type 'file)

(defun llsd--contact (&optional _interactive)
  "Return program and arguments of the server."
  (list llsd-program "lsp"))

(defun llsd--indent ()
  "Set the width by which eglot has the server format."
  ;; Emacs' own default is 8.
  (setq-local tab-width 2))

;;;###autoload
(defun llsd-setup ()
  "Have eglot start llsd in YAML buffers.
It leaves files alone that have neither a resource nor a config of the server."
  (dolist (mode '(yaml-mode yaml-ts-mode))
    (add-to-list 'eglot-server-programs (cons mode #'llsd--contact))
    (let ((hook (intern (format "%s-hook" mode))))
      (add-hook hook #'llsd--indent)
      (add-hook hook #'eglot-ensure))))

(defun llsd--server ()
  "Return the server of the current buffer."
  (or (eglot-current-server)
      (user-error "The language server is not running here; M-x eglot starts it")))

(defun llsd--text (buffer position)
  "Return the config that is generated for the resource at POSITION of BUFFER."
  (with-current-buffer buffer
    (save-excursion
      (goto-char position)
      (let ((server (llsd--server)))
        (eglot--signal-textDocument/didChange)
        (or (plist-get (jsonrpc-request server :llsd/preview (eglot--TextDocumentPositionParams)) :text)
            (user-error "There is no resource at point whose config could be shown"))))))

(defun llsd--show (text)
  "Put TEXT in place of the content of the current buffer."
  (let ((inhibit-read-only t) (place (point)))
    (erase-buffer)
    (insert text)
    (goto-char (min place (point-max)))))

;;;###autoload
(defun llsd-preview ()
  "Show the config that is generated for the resource at point, in another window.
There, \\<special-mode-map>\\[revert-buffer] generates it again."
  (interactive)
  (let* ((source (current-buffer))
         (place (point-marker))
         (text (llsd--text source place))
         (shown (get-buffer-create (format "*llsd-preview: %s*" (buffer-name source)))))
    (with-current-buffer shown
      (special-mode)
      (setq-local revert-buffer-function (lambda (&rest _) (llsd--show (llsd--text source place))))
      (llsd--show text))
    (display-buffer shown)))

;;;###autoload
(defun llsd-migrate ()
  "Rewrite the resource at point as v1alpha2."
  (interactive)
  (llsd--server)
  (eglot-code-actions (point) nil "refactor.rewrite.llsd.migrate" t))

(provide 'llsd)
;;; llsd.el ends here
