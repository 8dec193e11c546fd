/// What `fieldcam --version`, the status and the photos' software tag say.
let fieldcamVersion = "0.1.0"
